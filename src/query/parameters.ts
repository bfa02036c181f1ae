import type { Grant } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { countPlaces, type Shape, selectionOf } from './include.ts';
import { whereValue } from './json-value.ts';
import { splitNames } from './list.ts';
import { parseOrder } from './order.ts';
import type { QueryParameters, QueryScope } from './scope.ts';
import type { Query, Selection } from './selection.ts';
import { findSearch } from './text.ts';
import { always, guardedFilter, parseWhere } from './where/index.ts';

const ofQueries: ReadonlySet<string> = new Set([
  'where',
  'limit',
  'skip',
  'order',
  'keys',
  'excludeKeys',
  'include',
  'includeAll',
  'count',
  'redirectClassNameForKey',
]);
const ofReads: ReadonlySet<string> = new Set(['keys', 'excludeKeys', 'include', 'includeAll']);

/**
 * A query from its parameters (SPEC "Query"; docs/decisions.md "Queries"). Unknown parameters are reported before all else.
 * @throws invalidParameter, badParameterValue, badQuery (102); invalidWhere (500); what `parseWhere`, `keys`, `order`, `include` throw
 */
export function parseQuery(parameters: QueryParameters, grant: Grant, scope: QueryScope): Query {
  checkNames(parameters, ofQueries);
  const where = parseWhere(whereValue(parameters.get('where')), grant, scope);
  const ranked = findSearch(where) !== undefined;
  const { shape, places } = shapeOf(parameters);
  return {
    ...selectionOf(shape, guardedFilter(grant, where), grant, scope),
    places,
    order: parseOrder(parameters.get('order'), grant, ranked),
    ...pageOf(parameters),
    count: yesOrNo('count', parameters.get('count')),
    withClass: redirectKey(parameters) !== null,
    withScore: ranked && splitNames('keys', parameters.get('keys')).includes('$score'),
  };
}

/**
 * Checks the parameters of a query by themselves, against no table and for no caller.
 * @returns whether the number of records is asked for
 * @throws invalidParameter, badParameterValue (102); invalidWhere (500)
 */
export function checkParameters(parameters: QueryParameters): { readonly count: boolean } {
  checkNames(parameters, ofQueries);
  if (!isJsonObject(whereValue(parameters.get('where')))) fail('invalidWhere', 'should be a JSON object');
  shapeOf(parameters);
  splitNames('order', parameters.get('order'));
  pageOf(parameters);
  redirectKey(parameters);
  return { count: yesOrNo('count', parameters.get('count')) };
}

/**
 * The key of `redirectClassNameForKey` (see `redirected`); `null` where there is none.
 * @throws invalidParameter (102) for a parameter that is unknown, badParameterValue (102) for what is no name
 */
export function redirectKey(parameters: QueryParameters): string | null {
  const key = parameters.get('redirectClassNameForKey');
  if (key === undefined || key === '') return null;
  checkNames(parameters, ofQueries);
  return typeof key === 'string' ? key : fail('badParameterValue', 'redirectClassNameForKey', 'should be the name of a field');
}

/** Whether a query asks for the number of records and none of them. Looks at no more than that: `parseQuery` refuses what is malformed. */
export function countsAlone(parameters: QueryParameters): boolean {
  const limit = parameters.get('limit');
  return (limit === '0' || limit === 0) && yes.has(parameters.get('count'));
}

/** What to read of one record (SPEC "Read one"). @throws invalidParameter (102), and what `keys` and `include` throw */
export function parseSelection(parameters: QueryParameters, grant: Grant, scope: QueryScope): Selection {
  checkNames(parameters, ofReads);
  const { shape, places } = shapeOf(parameters);
  return { ...selectionOf(shape, guardedFilter(grant, always), grant, scope), places };
}

function checkNames(parameters: QueryParameters, known: ReadonlySet<string>): void {
  for (const name of parameters.keys()) if (!known.has(name)) fail('invalidParameter', name.slice(0, limits.nameLength));
}

const pageOf = (parameters: QueryParameters) => ({
  limit: wholeNumber('limit', parameters.get('limit'), limits.defaultLimit),
  skip: wholeNumber('skip', parameters.get('skip'), 0),
});

/** @throws badParameterValue (102) for what is no list of names; badQuery (102) for too many places */
function shapeOf(parameters: QueryParameters): { readonly shape: Shape; readonly places: number } {
  const asked = splitNames('keys', parameters.get('keys'));
  const keys = asked.filter((name) => name !== '$score');
  const shape = {
    keys: asked.length > 0 ? keys : null,
    excludeKeys: splitNames('excludeKeys', parameters.get('excludeKeys')),
    include: [
      ...splitNames('include', parameters.get('include')),
      ...(yesOrNo('includeAll', parameters.get('includeAll')) ? ['*'] : []),
    ],
  };
  return { shape, places: countPlaces(shape) };
}

function wholeNumber(name: string, value: JsonValue | undefined, unset: number): number {
  if (value === undefined) return unset;
  const number = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0)
    fail('badParameterValue', name, 'should be a whole number, 0 or more');
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

const yes: ReadonlySet<JsonValue | undefined> = new Set(['1', 'true', 1, true]);

function yesOrNo(name: string, value: JsonValue | undefined): boolean {
  if (yes.has(value)) return true;
  if (value === undefined || value === '0' || value === 'false' || value === 0 || value === false) return false;
  return fail('badParameterValue', name, 'should be 1 or 0');
}
