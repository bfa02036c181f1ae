import type { Grant } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import { limits } from '../kernel/limits.ts';
import type { FieldType } from '../schema/model.ts';
import { findSearch, type OrderKey } from './model/filter.ts';
import { resolveName } from './model/names.ts';
import type { FindOptions, ReadOptions } from './model/options.ts';
import type { Query, Selection } from './model/selection.ts';
import { countPlaces, type Shape, selectionOf } from './selection.ts';
import type { QueryScope } from './where/context.ts';
import { allOf, always, guardedFilter, parseWhere } from './where/index.ts';

/**
 * Builds a checked query from its options. Reference: queries.md#parameters.
 * @throws badQuery (102); what the options, `parseWhere`, `keys`, `order` and `include` throw
 */
export function buildQuery(options: FindOptions, grant: Grant, scope: QueryScope): Query {
  options.refuseUnknown?.();
  const requested = parseWhere(options.where ?? {}, grant, scope);
  const where = options.within ? allOf([options.within(grant), requested]) : requested;
  const ranked = findSearch(where) !== undefined;
  const { shape, places, wantsScore } = shapeOf(options);
  const selection = selectionOf(shape, guardedFilter(grant, where), grant, scope);
  return {
    ...(options.idsAlone ? idsOf(selection) : selection),
    places,
    order: parseOrder(options.order ?? none, grant, ranked),
    ...pageOf(options),
    withScore: ranked && wantsScore,
  };
}

function idsOf({ table, fields, filter }: Selection): Selection {
  return { table, fields: fields.filter(({ name }) => name === 'objectId'), filter, includes: [] };
}

/**
 * Checks the options of a query by themselves, without table and caller.
 * @returns whether the number of records is requested
 * @throws what the options throw; badQuery (102) for too many places
 */
export function checkOptions(options: FindOptions): { readonly count: boolean } {
  options.refuseUnknown?.();
  const { where: _where } = options;
  shapeOf(options);
  const { order: _order } = options;
  return pageOf(options);
}

/** Whether a query requests the number of records and no records. Refuses nothing: `buildQuery` does. */
export function countsAlone(options: FindOptions): boolean {
  return options.countsAlone ?? (options.limit === 0 && options.count === true);
}

/** Builds the selection of a read of one record (records.md#read). @throws what the options, `keys` and `include` throw */
export function buildSelection(options: ReadOptions, grant: Grant, scope: QueryScope): Selection {
  options.refuseUnknown?.();
  const { shape, places } = shapeOf(options);
  return { ...selectionOf(shape, guardedFilter(grant, always), grant, scope), places };
}

const none: readonly string[] = [];

function pageOf(options: FindOptions): Pick<Query, 'limit' | 'skip' | 'stride' | 'count' | 'withClass'> {
  const { limit = limits.defaultLimit, skip = 0, stride, count = false, redirectClassNameForKey: key } = options;
  return { limit, skip, count, withClass: key !== undefined, ...(stride !== undefined && { stride }) };
}

/** @throws badQuery (102) for too many places */
function shapeOf(options: ReadOptions): { readonly shape: Shape; readonly places: number; readonly wantsScore: boolean } {
  const { keys = none, excludeKeys = none, include = none, includeAll = false } = options;
  const wantsScore = keys.includes('$score');
  const shape = {
    keys: keys.length === 0 ? null : wantsScore ? keys.filter((name) => name !== '$score') : keys,
    excludeKeys,
    include: includeAll ? [...include, '*'] : include,
  };
  return { shape, places: countPlaces(shape), wantsScore };
}

export const MAX_ORDER_KEYS = 100;

const unordered: ReadonlySet<FieldType> = new Set(['Relation', 'ACL']);

/** Parse's storage names of these fields, which its clients send. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['_created_at', 'createdAt'],
  ['_updated_at', 'updatedAt'],
]);

/**
 * Parses `order`: names, `-` before one for descending, `$score` for the relevance of `$text`. Unknown fields are ignored: all records are
 * alike in them. An order ends in objectId, so that pages are stable. Reference: queries.md#order.
 * @param ranked whether the query has a relevance; `$score` is ignored otherwise
 * @throws invalidFieldName (105), fieldDenied, badParameterValue
 */
export function parseOrder(names: readonly string[], grant: Grant, ranked: boolean): OrderKey[] {
  const keys = new Map<string, OrderKey>();
  for (const item of names) {
    const descending = item.startsWith('-');
    const written = descending ? item.slice(1) : item;
    const name = synonyms.get(written) ?? written;
    if (keys.has(name)) continue;
    if (name === '$score') {
      if (ranked) keys.set(name, { kind: 'score', descending });
      continue;
    }
    const ref = resolveName(name, grant);
    if (ref && !unordered.has(ref.field.type)) keys.set(name, { kind: 'field', ref, descending });
  }
  if (keys.size > MAX_ORDER_KEYS) fail('badParameterValue', 'order', `more than ${MAX_ORDER_KEYS} keys`);
  const objectId = grant.table.fields.get('objectId');
  if (names.length > 0 && !keys.has('objectId') && objectId)
    keys.set('objectId', { kind: 'field', ref: { field: objectId, path: [] }, descending: false });
  return [...keys.values()];
}
