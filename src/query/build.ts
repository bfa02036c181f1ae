import type { Grant } from '../access/index.ts';
import { limits } from '../kernel/limits.ts';
import { findSearch } from './model/filter.ts';
import type { FindOptions, ReadOptions } from './model/options.ts';
import type { Query, Selection } from './model/selection.ts';
import { parseOrder } from './order.ts';
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
    order: parseOrder(options.order ?? none, grant, scope, ranked),
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
  const { keys = none, excludeKeys = none, keysAlone = false, include = none, includeAll = false } = options;
  const wantsScore = keys.includes('$score');
  const shape = {
    keys: keys.length === 0 ? null : wantsScore ? keys.filter((name) => name !== '$score') : keys,
    excludeKeys,
    keysAlone,
    include: includeAll ? [...include, '*'] : include,
  };
  return { shape, places: countPlaces(shape), wantsScore };
}
