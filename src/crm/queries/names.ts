import pLimit from 'p-limit';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { CrmContext } from '../context.ts';
import { accessErrors, unless } from '../refusals.ts';
import { titleFieldsOf, titleOf } from '../wire/titles.ts';
import { visibleFields } from './field-visibility.ts';
import { shortRowsWithIds } from './long-rows.ts';
import { tableIfAny } from './records.ts';

/**
 * Returns the display names of those records that the caller may find, by id. A record without a visible name has an empty one; one whose name is too
 * long
 * to be read is left out.
 * @returns an empty map if the caller may not read the table
 */
export async function namesOf(context: CrmContext, className: string, ids: Iterable<string>): Promise<Map<string, string>> {
  const table = tableIfAny(context, className);
  if (!table) return new Map();
  const keys = ['objectId', ...visibleFields(context, table, titleFieldsOf(table))];
  const rows = await unless(accessErrors, [], () => shortRowsWithIds(context, className, ids, keys));
  return new Map(rows.map((row) => [row.objectId, titleOf(row) ?? '']));
}

/** A record reference for display, without a name if the caller does not see one. */
export function named(objectId: string, names: ReadonlyMap<string, string>): JsonObject {
  const name = names.get(objectId);
  return name ? { objectId, Name: name } : { objectId };
}

/** Maximum number of tables queried for names in one answer. */
const MAX_TABLES = 40;
/** Maximum number of records per table. */
const MAX_NAMES = 5_000;

/** Names by table and id. */
export type TargetNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Returns the names of the targets of Pointers and lists of Pointers, as far as the caller may find them. One query per table.
 * @param values in wire form
 */
export async function targetNames(context: CrmContext, values: Iterable<JsonValue>): Promise<TargetNames> {
  const idsOf = new Map<string, Set<string>>();
  const collect = (value: JsonValue): JsonValue => {
    const target = pointerOf(value);
    if (!target) return value;
    const ids = idsOf.get(target.className) ?? new Set();
    if (ids.size < MAX_NAMES) idsOf.set(target.className, ids.add(target.objectId));
    return value;
  };
  for (const value of values) eachPointer(value, collect);
  const wanted = [...idsOf].slice(0, MAX_TABLES);
  const turn = pLimit(CONCURRENCY);
  return new Map(
    await Promise.all(wanted.map(async ([name, ids]) => [name, await turn(() => namesOf(context, name, ids))] as const)),
  );
}

/** Tables read concurrently. */
const CONCURRENCY = 4;

/** Adds the names of their targets to Pointers and lists of Pointers. */
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
