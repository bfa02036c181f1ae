import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import type { ToolCall } from '../tools/tool.ts';
import { findRows, unless, unseen } from './records.ts';
import { seen } from './visible.ts';

/** What a person calls a record by, in the order in which it counts. */
const titles = ['Name', 'name', 'username', 'FirstName', 'LastName', 'Subject', 'Number', 'Identity', 'Content'] as const;

/** So many records are named by one query. */
const AT_ONCE = 500;

/** The fields of a table that its records are called by; those of people come in two, of users the second for who has no name. */
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

/** What a record in wire form is called; `undefined` where none of its fields says so. */
export function titleOf(row: JsonObject): string | undefined {
  const words = (name: string) => (Object.hasOwn(row, name) && isWord(row[name]) ? [String(row[name])] : []);
  const [first] = titles.filter((name) => words(name).length > 0);
  if (first === undefined) return undefined;
  const all = first === 'FirstName' ? [...words('FirstName'), ...words('LastName')] : words(first);
  return all.join(' ').slice(0, 200);
}

const isWord = (value: JsonValue | undefined): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value !== '');

/** What records of a table are called, by their objectIds; those that the caller may not see are not in it. */
export async function titlesOf(call: ToolCall, className: string, ids: Iterable<string>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const table = call.context.store.schema().tables.get(className);
  const keys = table ? seen(call, table, titleFieldsOf(table)) : [];
  if (keys.length === 0) return found;
  const wanted = [...new Set(ids)];
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = wanted.slice(at, at + AT_ONCE);
    const where = { objectId: { $in: some } };
    const rows = await unless(unseen, [], () => findRows(call, className, { where, keys, limit: some.length }));
    for (const row of rows) {
      const title = titleOf(row);
      if (title !== undefined) found.set(row.objectId, title);
    }
  }
  return found;
}

/** An included record as the Pointer that it stands for, with its name; anything else as it is. */
export function namedPointer(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(namedPointer);
  if (!isJsonObject(value) || value.__type !== 'Object') return value;
  const { className = null, objectId = null } = value;
  const title = titleOf(value);
  return { __type: 'Pointer', className, objectId, ...(title !== undefined && { Name: title }) };
}
