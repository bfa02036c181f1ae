import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { unless, unseen } from '../answers/refusals.ts';
import { titleFieldsOf, titleOf } from '../values/titles.ts';
import { rowsWithIds } from './records.ts';
import { tableIfAny } from './tables.ts';
import { seen } from './visible.ts';

/**
 * The records of a table that the caller may find, by id, with what people call them; a record without a name that he sees has an empty one.
 * @returns empty where he may not read the table
 */
export async function namesOf(call: ToolCall, className: string, ids: Iterable<string>): Promise<Map<string, string>> {
  const table = tableIfAny(call, className);
  if (!table) return new Map();
  const keys = ['objectId', ...seen(call, table, titleFieldsOf(table))];
  const rows = await unless(unseen, [], () => rowsWithIds(call, className, ids, keys));
  return new Map(rows.map((row) => [row.objectId, titleOf(row) ?? '']));
}

/** A record as it is shown beside another: without a name where the caller does not see one. */
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

/** The same values, with the names of what their Pointers point at: alone, or in a list. */
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
  return change(value);
}
