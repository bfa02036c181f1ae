import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';

/** Fields by which records are named, in order of preference. */
const titles = ['Name', 'name', 'username', 'FirstName', 'LastName', 'Subject', 'Number', 'Identity', 'Content'] as const;

/** Returns the title fields of a table. Persons have two; the second of users applies to those without a display name. */
export function titleFieldsOf({ fields }: TableSchema): string[] {
  const isTitle = (name: string) => {
    const field = fields.get(name);
    return field !== undefined && ['text', 'number'].includes(storageOf(field));
  };
  const [first] = titles.filter(isTitle);
  if (first === undefined) return [];
  return [first, ...(seconds.get(first) ?? [])].filter(isTitle);
}

const seconds: ReadonlyMap<string, readonly string[]> = new Map([
  ['FirstName', ['LastName']],
  ['name', ['username']],
]);

/** Returns the title of a record in wire form; `undefined` if no field holds one. */
export function titleOf(row: JsonObject): string | undefined {
  const words = (name: string) => (Object.hasOwn(row, name) && isWord(row[name]) ? [String(row[name])] : []);
  const [first] = titles.filter((name) => words(name).length > 0);
  if (first === undefined) return undefined;
  const all = first === 'FirstName' ? [...words('FirstName'), ...words('LastName')] : words(first);
  return all.join(' ').slice(0, 200);
}

const isWord = (value: JsonValue | undefined): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value !== '');

/** Returns the title of an included record; `undefined` for anything else. */
export const titleIn = (value: JsonValue | undefined): string | undefined => (isJsonObject(value) ? titleOf(value) : undefined);

/** Converts an included record to its Pointer with the title; other values are unchanged. */
export function namedPointer(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(namedPointer);
  if (!isJsonObject(value) || value.__type !== 'Object') return value;
  const { className = null, objectId = null } = value;
  const title = titleOf(value);
  return { __type: 'Pointer', className, objectId, ...(title !== undefined && { Name: title }) };
}
