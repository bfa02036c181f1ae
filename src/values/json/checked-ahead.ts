import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { isLongString, valueText } from './long-strings.ts';

export type Container = JsonValue[] | JsonObject;

/** What is known of a large value before the write that stores it is planned (values/large-values.ts): its JSON text, or what is wrong inside. */
export type CheckedAhead = { readonly text: string } | { readonly error: unknown };

/** Values that are checked ahead, by identity, until they are stored: a function may change them then, and store them again. */
const known = new WeakMap<Container, CheckedAhead>();
/** Arrays that hold included records, and the same with Pointers in their place. */
const plain = new WeakMap<JsonValue[], JsonValue[]>();

/** ACLs, and what is stored of them. */
const acls = new WeakMap<Container, CheckedAhead>();
/** Operands of AddUnique, and the same without duplicates. */
const unique = new WeakMap<readonly JsonValue[], JsonValue[]>();

export function keepAhead(value: Container, checked: CheckedAhead): void {
  known.set(value, checked);
}

/** Forgets what is known of a value. */
export function forgetAhead(value: Container): void {
  known.delete(value);
  acls.delete(value);
  if (!Array.isArray(value)) return;
  plain.delete(value);
  unique.delete(value);
}

export function keepPlainAhead(elements: JsonValue[], withPointers: JsonValue[]): void {
  plain.set(elements, withPointers);
}

export function keepDistinctAhead(operands: readonly JsonValue[], distinct: JsonValue[]): void {
  unique.set(operands, distinct);
}

export function keepAclAhead(value: Container, decoded: CheckedAhead): void {
  acls.set(value, decoded);
}

/** Returns what is stored of an ACL that was decoded ahead. @throws what that has thrown */
export function aclAhead(value: Container): string | undefined {
  const found = acls.get(value);
  if (found && 'error' in found) throw found.error;
  return found?.text;
}

/** Whether the inside of a value was checked ahead. @throws what the check has thrown */
export function isCheckedAhead(value: Container): boolean {
  const found = known.get(value);
  if (found && 'error' in found) throw found.error;
  return found !== undefined;
}

/** Returns the JSON text of a value that was checked ahead without a fault. */
export function textAhead(value: Container): string | undefined {
  const found = known.get(value);
  return found && 'text' in found ? found.text : undefined;
}

export const plainAhead = (elements: JsonValue[]): JsonValue[] | undefined => plain.get(elements);

export const distinctAhead = (operands: readonly JsonValue[]): JsonValue[] | undefined => unique.get(operands);

/** Returns the JSON text of an Array or Object. */
export const containerText = (value: Container): string => textAhead(value) ?? JSON.stringify(value);

/** Returns the JSON text of fields, of which some may be large. */
export function fieldsText(fields: JsonObject): string {
  const names = Object.keys(fields);
  const isLarge = (value: JsonValue | undefined): value is Container =>
    typeof value === 'object' && value !== null && known.has(value);
  if (!names.some((name) => isLarge(fields[name]) || isLongString(fields[name]))) return JSON.stringify(fields);
  const members = names.map((name) => {
    const value = fields[name] as JsonValue;
    return `${JSON.stringify(name)}:${isLarge(value) ? containerText(value) : valueText(value)}`;
  });
  return `{${members.join(',')}}`;
}
