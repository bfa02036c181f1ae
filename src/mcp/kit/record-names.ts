import { grantFor } from '../../access/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { ToolCall } from '../tools/tool.ts';
import { findRows, unless, unseen } from './records.ts';
import { titleFieldsOf, titleOf } from './titles.ts';

/** So many records are named by one query. */
const AT_ONCE = 1_000;

/**
 * The records of a table that the caller may find, by id, with what people call them; a record without a name has an empty one.
 * @returns empty where he may not read the table
 */
export async function namesOf(call: ToolCall, className: string, ids: Iterable<string>): Promise<Map<string, string>> {
  const sought = [...new Set(ids)];
  const table = call.context.store.schema().tables.get(className);
  if (!table || sought.length === 0) return new Map();
  const keys = ['objectId', ...shownNames(call, table)];
  const names = new Map<string, string>();
  for (let at = 0; at < sought.length; at += AT_ONCE) {
    const some = sought.slice(at, at + AT_ONCE);
    const ask = { where: { objectId: { $in: some } }, keys, limit: some.length };
    for (const row of await unless(unseen, [], () => findRows(call, className, ask))) names.set(row.objectId, titleOf(row) ?? '');
  }
  return names;
}

function shownNames({ principal }: ToolCall, table: TableSchema): string[] {
  const hidden = grantFor(principal, 'find', table)?.hiddenFields;
  return titleFieldsOf(table).filter((name) => !hidden?.has(name));
}

/** A record as it is shown beside another. */
export function named(objectId: string, names: ReadonlyMap<string, string>): JsonObject {
  const name = names.get(objectId);
  return name ? { objectId, Name: name } : { objectId };
}

const isPointer = (value: JsonValue): value is JsonObject & { className: string; objectId: string } =>
  isJsonObject(value) &&
  own(value, '__type') === 'Pointer' &&
  typeof own(value, 'className') === 'string' &&
  typeof own(value, 'objectId') === 'string';

/** So many tables are asked for names in one answer. */
const MOST_TABLES = 20;

/** The same values, with the names of what their Pointers point at: alone, in a list, or in the `objects` of an operator. */
export async function withPointerNames(call: ToolCall, values: readonly JsonValue[]): Promise<JsonValue[]> {
  const idsOf = new Map<string, Set<string>>();
  const note = (value: JsonValue): JsonValue => {
    if (!isPointer(value)) return value;
    const ids = idsOf.get(value.className) ?? new Set();
    idsOf.set(value.className, ids.add(value.objectId));
    return value;
  };
  for (const value of values) eachPointer(value, note);
  const names = new Map<string, ReadonlyMap<string, string>>();
  for (const [className, ids] of [...idsOf].slice(0, MOST_TABLES)) names.set(className, await namesOf(call, className, ids));
  const withName = (value: JsonValue): JsonValue => {
    const name = isPointer(value) ? names.get(value.className)?.get(value.objectId) : undefined;
    return name ? { ...(value as JsonObject), Name: name } : value;
  };
  return values.map((value) => eachPointer(value, withName));
}

function eachPointer(value: JsonValue, change: (value: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(change);
  if (!isJsonObject(value)) return value;
  const objects = own(value, 'objects');
  return Object.hasOwn(value, '__op') && Array.isArray(objects) ? { ...value, objects: objects.map(change) } : change(value);
}
