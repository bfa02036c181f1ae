import pLimit from 'p-limit';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { CrmContext } from '../context.ts';
import { unless, unseen } from '../refusals.ts';
import { titleFieldsOf, titleOf } from '../wire/titles.ts';
import { seen } from './field-visibility.ts';
import { shortRowsWithIds } from './long-rows.ts';
import { tableIfAny } from './records.ts';

/**
 * The records of a table that the caller may find, by id, with what people call them; a record without a name that he sees has an empty one.
 * @returns empty where he may not read the table; without records whose names are too long to be read
 */
export async function namesOf(context: CrmContext, className: string, ids: Iterable<string>): Promise<Map<string, string>> {
  const table = tableIfAny(context, className);
  if (!table) return new Map();
  const keys = ['objectId', ...seen(context, table, titleFieldsOf(table))];
  const rows = await unless(unseen, [], () => shortRowsWithIds(context, className, ids, keys));
  return new Map(rows.map((row) => [row.objectId, titleOf(row) ?? '']));
}

/** A record as it is shown beside another: without a name where the caller does not see one. */
export function named(objectId: string, names: ReadonlyMap<string, string>): JsonObject {
  const name = names.get(objectId);
  return name ? { objectId, Name: name } : { objectId };
}

/** So many tables are asked for names in one answer. */
const MAX_TABLES = 40;
/** So many records of a table. */
const MAX_NAMES = 5_000;

/** Names of records, by table and id. */
export type TargetNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * The names of what Pointers point at, alone or in a list: of records that the caller may find. One query for each table.
 * @param values in wire form
 */
export async function targetNames(context: CrmContext, values: Iterable<JsonValue>): Promise<TargetNames> {
  const idsOf = new Map<string, Set<string>>();
  const note = (value: JsonValue): JsonValue => {
    const target = pointerOf(value);
    if (!target) return value;
    const ids = idsOf.get(target.className) ?? new Set();
    if (ids.size < MAX_NAMES) idsOf.set(target.className, ids.add(target.objectId));
    return value;
  };
  for (const value of values) eachPointer(value, note);
  const sought = [...idsOf].slice(0, MAX_TABLES);
  const turn = pLimit(CONCURRENCY);
  return new Map(
    await Promise.all(sought.map(async ([name, ids]) => [name, await turn(() => namesOf(context, name, ids))] as const)),
  );
}

/** Tables that are read at once. */
const CONCURRENCY = 4;

/** The same values, with the names of what their Pointers point at: alone, or in a list. */
export async function withPointerNames(context: CrmContext, values: readonly JsonValue[]): Promise<JsonValue[]> {
  const names = await targetNames(context, values);
  const withName = (value: JsonValue): JsonValue => {
    const target = pointerOf(value);
    const name = target && names.get(target.className)?.get(target.objectId);
    return name ? { ...(value as JsonObject), Name: name } : value;
  };
  return values.map((value) => eachPointer(value, withName));
}

function eachPointer(value: JsonValue, change: (value: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(change);
  return change(value);
}
