import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { digitsOf } from '../../kernel/phone-key.ts';
import type { RecordContext } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { isHidden, isSystemTable } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';

/** Returns the context of a form's commit, which keeps the answer if the request has a key. */
export const answering = (context: RecordContext, answer: JsonValue): RecordContext =>
  context.keepingAnswer?.(context, answer) ?? context;

/** Whether an input was sent; null and blank texts count as missing (functions.md#form-values). */
export function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '');
}

/** Returns a phone number or an e-mail address as text, since some clients send numbers; `null` for anything else. */
export function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : null;
}

/** Validation by `ValidatePhoneOrEmail` (functions.md#getlead): 7 to 14 digits. */
export function isValidPhone(value: JsonValue | undefined): boolean {
  const digits = digitsOf(textOf(value) ?? '').length;
  return digits >= 7 && digits <= 14;
}

/** Validation by `ValidatePhoneOrEmail` (functions.md#getlead): 6 to 80 characters, with `@` and `.`. */
export function isValidEmail(value: JsonValue | undefined): boolean {
  if (typeof value !== 'string' || value.length < 6 || value.length > 80) return false;
  return value.includes('@') && value.includes('.');
}

/** Sets a flag of the service on a record, if the table has the field. */
export function setBoolean(table: TableSchema, fields: JsonObject, name: string, value: boolean): void {
  if (table.fields.get(name)?.type === 'Boolean') fields[name] = value;
}

/**
 * A built-in function.
 * @param context the system's records, with full rights
 * @returns the body of the response
 */
export type FormFunction = (context: RecordContext, input: JsonObject) => Promise<JsonValue>;

/** Returns the table that a form writes to; never a system table. @param className may come from a client @throws classMissing (103) */
export function openTable(store: Store, className: string): TableSchema {
  const isOwn = isSystemTable(className) || isHidden(className);
  const table = isOwn ? undefined : store.schema().tables.get(className);
  return table ?? fail('classMissing', className.slice(0, limits.nameLength));
}
