import { authorize, type Grant, master, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { buildAggregation } from '../../query/aggregate/index.ts';
import {
  type AggregateOptions,
  buildQuery,
  buildSelection,
  checkOptions,
  countsAlone,
  type FindOptions,
  guardedFilter,
  type ReadOptions,
  redirected,
} from '../../query/index.ts';
import type { Query, Selection } from '../../query/model/selection.ts';
import type { QueryScope } from '../../query/where/context.ts';
import { newTable } from '../../schema/defaults.ts';
import type { Schema } from '../../schema/model.ts';
import { type FindResult, type JsonText, SchemaChanged, type Store } from '../../storage/port.ts';
import { rowsOf, valueOfText } from '../../storage/text-values.ts';
import type { RecordContext } from '../context/context.ts';

/** Whole records as a grant shows them. Grants are remembered, so that the engine compiles them once for each. */
const wholeRecords = new WeakMap<Grant, Selection>();

/**
 * Reads one record. SPEC "Records: Read one".
 * @param options all that is shown of it where they are left out
 * @returns JSON text of the record, piece by piece where it is large
 * @throws objectNotFound (101), permissionDenied (119); what the options throw
 */
export async function readRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  options?: ReadOptions,
): Promise<JsonText> {
  const { store, principal } = context;
  const found = await underSchema(store, (schema) => {
    refuseOutright(principal, 'get', className);
    const table = schema.tables.get(className);
    if (!table) return fail('objectNotFound');
    const grant = authorize(principal, 'get', table, schema);
    const scope = { schema, principal };
    return store.reader.get(options ? buildSelection(options, grant, scope) : wholeRecord(grant, scope), objectId);
  });
  return found ?? fail('objectNotFound');
}

function wholeRecord(grant: Grant, scope: QueryScope): Selection {
  let selection = wholeRecords.get(grant);
  if (!selection) {
    selection = buildSelection({}, grant, scope);
    wholeRecords.set(grant, selection);
  }
  return selection;
}

/** Records that were found, and their class where the query was led to it. */
export interface FoundRecords extends FindResult {
  readonly className?: string;
}

/**
 * Runs a query. SPEC "Records: Query"; a table that does not exist has no records.
 * @param className what the query is sent to; `redirectClassNameForKey` leads it to the table of a Relation
 * @param wantsRows as of `Reader.find`
 * @throws badQuery (102), permissionDenied (119), timeout (124); what the options throw
 */
export function findRecords(
  context: RecordContext,
  className: string,
  options: FindOptions,
  wantsRows = false,
): Promise<FoundRecords> {
  const { store, principal, patterns, until } = context;
  return underSchema(store, async (schema) => {
    refuseOutright(principal, 'find', className);
    const scope = { schema, principal, patterns };
    const key = options.redirectClassNameForKey;
    const asked = schema.tables.get(className);
    const table = asked && key !== undefined ? redirected(asked, key, scope) : asked;
    if (!table) return findNothing(className, options, scope);
    if (key !== undefined) refuseOutright(principal, 'find', table.className);
    const alone = countsAlone(options);
    const grant = authorize(principal, alone ? 'count' : 'find', table, schema);
    const query = buildQuery(options, grant, scope);
    const counting = query.count && !alone ? authorize(principal, 'count', table, schema) : grant;
    // Callers who may count fewer records than they may find get those in both.
    const counted = counting === grant ? query : { ...query, filter: guardedFilter(counting, query.filter) };
    const found = await store.reader.find(counted, wantsRows, until);
    return key === undefined ? found : { ...found, className: table.className };
  });
}

/**
 * What a query would read, for who carries it out in parts of his own: whatever `findRecords` would refuse is refused.
 * @throws classMissing (103) where there is no such table; else as `findRecords`
 */
export async function planRecords(
  { store, principal, patterns }: RecordContext,
  className: string,
  options: FindOptions,
): Promise<Query> {
  const schema = store.schema();
  refuseOutright(principal, 'find', className);
  const table = schema.tables.get(className) ?? fail('classMissing', className.slice(0, limits.nameLength));
  return buildQuery(options, authorize(principal, 'find', table, schema), { schema, principal, patterns });
}

/**
 * SPEC "Query": a table that does not exist has no records. The options are checked as for any other; of those that nobody in
 * particular sends, only what costs nothing: the names, and the form of each by itself.
 */
function findNothing(className: string, options: FindOptions, scope: QueryScope): FindResult {
  const { count } =
    scope.principal.kind === 'anonymous'
      ? checkOptions(options)
      : buildQuery(options, authorize(master, 'find', newTable(className, className)), scope);
  return count ? { results: '[]', count: 0 } : { results: '[]' };
}

/** More changes of the schema than this while one read waits are no accident. */
const ATTEMPTS = 100;

/** Plans a read and runs it; again where the schema loses something before its turn comes. @param read plans under the schema in the same turn */
export async function underSchema<T>(store: Store, read: (schema: Schema) => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS; ; left--) {
    try {
      return await read(store.schema());
    } catch (error) {
      if (!(error instanceof SchemaChanged) || left === 1) throw error;
    }
  }
}

/**
 * Runs an aggregation. SPEC "Aggregation"; CONTRACT "Records".
 * @returns JSON array of the result rows
 * @throws permissionDenied (119), badQuery (102), timeout (124); what the options throw
 */
export async function aggregateRecords(context: RecordContext, className: string, options: AggregateOptions): Promise<JsonText> {
  const { store, principal, patterns } = context;
  // Whatever the table would answer else (SPEC "Aggregation").
  if (principal.kind === 'anonymous') fail('permissionDenied', 'find', className);
  refuseOutright(principal, 'find', className);
  return underSchema(store, async (schema) => {
    const table = schema.tables.get(className);
    if (!table) {
      options.refuseUnknown?.();
      return '[]';
    }
    const grant = authorize(principal, 'find', table, schema);
    return store.reader.aggregate(buildAggregation(options, grant, { schema, principal, patterns }));
  });
}

/** A record in wire form, as its caller may see it: Dates, Pointers and Files are objects with `__type`. */
export type Row = JsonObject & { objectId: string };

/**
 * The records of a query, in memory (SPEC "Records: Query").
 * @param most characters of their JSON text; left out: as many as memory should hold
 * @throws resultTooLarge (116); what `findRecords` throws
 */
export async function findRows(context: RecordContext, className: string, options: FindOptions, most?: number): Promise<Row[]> {
  return rowsOf<Row>(await findRecords(context, className, options, true), most);
}

/** How many records match, of those that the caller may count. @throws what `findRecords` throws */
export async function countRecords(context: RecordContext, className: string, where?: JsonObject): Promise<number> {
  return (await findRecords(context, className, { where, limit: 0, count: true })).count ?? 0;
}

/**
 * One record, in memory (SPEC "Records: Read one").
 * @param options all that is shown of it where they are left out
 * @throws resultTooLarge (116); what `readRecord` throws
 */
export async function getRow(context: RecordContext, className: string, objectId: string, options?: ReadOptions): Promise<Row> {
  return valueOfText<Row>(await readRecord(context, className, objectId, options));
}

/** Result rows of an aggregation, in memory. @throws resultTooLarge (116); what `aggregateRecords` throws */
export async function aggregateRows(context: RecordContext, className: string, options: AggregateOptions): Promise<JsonObject[]> {
  return valueOfText<JsonObject[]>(await aggregateRecords(context, className, options));
}
