import { authorize, type Grant, grantFor, master, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { traced } from '../../observe/index.ts';
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
import { type FindResult, type JsonText, type RowForm, SchemaChanged, type Store } from '../../storage/port.ts';
import { escapedOf, rowsOf, valueOfText } from '../../storage/text-values.ts';
import type { RecordContext } from '../context/context.ts';
import { viewOf } from './record-view.ts';

/** Selections of whole records, by grant. Grants are cached, so that the engine compiles each selection once. */
const wholeRecords = new WeakMap<Grant, Selection>();

/**
 * Reads one record. Reference: records.md#read.
 * @param options left out: the whole record as the caller may see it
 * @returns JSON text of the record, in pieces if it is large
 * @throws objectNotFound (101), permissionDenied (119); what the options throw
 */
export async function readRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  options?: ReadOptions,
): Promise<JsonText> {
  return (await readViewed(context, className, objectId, options)).text;
}

/** A record as a caller sees it. */
export interface ViewedRecord {
  readonly text: JsonText;
  /** As `viewOf` returns it. */
  readonly view: string | null;
  /** Whether other records may be part of the text. */
  readonly isExpanded: boolean;
}

/** Reads one record as `readRecord` does, with what its text depends on besides the record. */
export async function readViewed(
  context: RecordContext,
  className: string,
  objectId: string,
  options?: ReadOptions,
): Promise<ViewedRecord> {
  const { store, principal } = context;
  let selection: Selection | undefined;
  let view: string | null = null;
  const text = await retryOnSchemaChange(store, (schema) => {
    refuseOutright(principal, 'get', className);
    const table = schema.tables.get(className);
    if (!table) return fail('objectNotFound');
    const grant = authorize(principal, 'get', table, schema);
    const scope = { schema, principal };
    selection = options ? buildSelection(options, grant, scope) : wholeRecord(grant, scope);
    view = viewOf(store, principal, selection);
    return store.reader.get(selection, objectId);
  });
  if (text === null) return fail('objectNotFound');
  return { text, view, isExpanded: (selection?.includes.length ?? 0) > 0 };
}

/** Returns the view of a caller who reads whole records of a table (`viewOf`); `null` also if the caller may not read any. */
export function wholeView({ store, principal }: RecordContext, className: string): string | null {
  const schema = store.schema();
  const table = schema.tables.get(className);
  const grant = table ? grantFor(principal, 'get', table, schema) : null;
  return grant && viewOf(store, principal, wholeRecord(grant, { schema, principal }));
}

function wholeRecord(grant: Grant, scope: QueryScope): Selection {
  let selection = wholeRecords.get(grant);
  if (!selection) {
    selection = buildSelection({}, grant, scope);
    wholeRecords.set(grant, selection);
  }
  return selection;
}

/** Found records, with their class if `redirectClassNameForKey` led the query to another table. */
export interface FoundRecords extends FindResult {
  readonly className?: string;
}

/**
 * Runs a query; a table that does not exist has no records. Reference: queries.md#parameters.
 * @param className the table the query is sent to; `redirectClassNameForKey` leads it to the table of a Relation
 * @param form as in `Reader.find`
 * @throws badQuery (102), permissionDenied (119), timeout (124); what the options throw
 */
export function findRecords(
  context: RecordContext,
  className: string,
  options: FindOptions,
  form?: RowForm,
): Promise<FoundRecords> {
  const { store, principal, patterns, until } = context;
  return retryOnSchemaChange(store, async (schema) => {
    refuseOutright(principal, 'find', className);
    const scope = { schema, principal, patterns };
    const key = options.redirectClassNameForKey;
    const requested = schema.tables.get(className);
    const table = requested && key !== undefined ? redirected(requested, key, scope) : requested;
    if (!table) return findNothing(className, options, scope);
    if (key !== undefined) refuseOutright(principal, 'find', table.className);
    const alone = countsAlone(options);
    const grant = authorize(principal, alone ? 'count' : 'find', table, schema);
    const query = traced('compile', {}, () => buildQuery(options, grant, scope));
    const counting = query.count && !alone ? authorize(principal, 'count', table, schema) : grant;
    // Callers who may count fewer records than they may find get those in both.
    const counted = counting === grant ? query : { ...query, filter: guardedFilter(counting, query.filter) };
    const found = await store.reader.find(counted, form, until);
    return key === undefined ? found : { ...found, className: table.className };
  });
}

/**
 * Returns the query without running it, for callers that run it page by page. Refuses what `findRecords` refuses.
 * @throws classMissing (103) if there is no such table; otherwise as `findRecords`
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
 * Answers a query of a table that does not exist: no records. The options are checked as for any other table; of those of an anonymous caller
 * only names and forms, which is cheap. Reference: queries.md#query-limits.
 */
function findNothing(className: string, options: FindOptions, scope: QueryScope): FindResult {
  const { count } =
    scope.principal.kind === 'anonymous'
      ? checkOptions(options)
      : buildQuery(options, authorize(master, 'find', newTable(className, className)), scope);
  return count ? { results: '[]', count: 0 } : { results: '[]' };
}

/** Maximum number of plans of one read. That many schema changes while one read waits point to a fault. */
const MAX_ATTEMPTS = 100;

/**
 * Plans a read and runs it; repeats both if the schema loses a field or table before the read starts. @param read plans under the schema in the same
 * turn
 */
export async function retryOnSchemaChange<T>(store: Store, read: (schema: Schema) => Promise<T>): Promise<T> {
  for (let left = MAX_ATTEMPTS; ; left--) {
    try {
      return await read(store.schema());
    } catch (error) {
      if (!(error instanceof SchemaChanged) || left === 1) throw error;
    }
  }
}

/**
 * Runs an aggregation. Reference: aggregation.md#request.
 * @returns JSON array of the result rows
 * @throws permissionDenied (119), badQuery (102), timeout (124); what the options throw
 */
export async function aggregateRecords(context: RecordContext, className: string, options: AggregateOptions): Promise<JsonText> {
  const { store, principal, patterns } = context;
  // Anonymous callers are refused whatever the table's permissions (aggregation.md#request).
  if (principal.kind === 'anonymous') fail('permissionDenied', 'find', className);
  refuseOutright(principal, 'find', className);
  return retryOnSchemaChange(store, async (schema) => {
    const table = schema.tables.get(className);
    if (!table) {
      options.refuseUnknown?.();
      return '[]';
    }
    const grant = authorize(principal, 'find', table, schema);
    const scope = { schema, principal, patterns };
    return store.reader.aggregate(traced('compile', {}, () => buildAggregation(options, grant, scope)));
  });
}

/** A record in wire form, as the caller may see it: Dates, Pointers and Files are objects with `__type`. */
export type Row = JsonObject & { objectId: string };

/**
 * Returns the records of a query, in memory. Reference: queries.md#parameters.
 * @param maxCharacters of their JSON text; left out: the bound of one text in memory
 * @throws resultTooLarge (116); what `findRecords` throws
 */
export async function findRows(
  context: RecordContext,
  className: string,
  options: FindOptions,
  maxCharacters?: number,
): Promise<Row[]> {
  return rowsOf<Row>(await findRecords(context, className, options, 'values'), maxCharacters);
}

/** Returns the text of each record of a query as it stands inside a JSON string, in memory. @throws resultTooLarge (116); what `findRecords` throws */
export async function findEscaped(context: RecordContext, className: string, options: FindOptions): Promise<readonly string[]> {
  const found = await findRecords(context, className, options, 'escaped');
  return found.escaped ?? escapedOf(found);
}

/** Returns the number of matching records that the caller may count. @throws what `findRecords` throws */
export async function countRecords(context: RecordContext, className: string, where?: JsonObject): Promise<number> {
  return (await findRecords(context, className, { where, limit: 0, count: true })).count ?? 0;
}

/**
 * Returns one record, in memory. Reference: records.md#read.
 * @param options left out: the whole record as the caller may see it
 * @throws resultTooLarge (116); what `readRecord` throws
 */
export async function getRow(context: RecordContext, className: string, objectId: string, options?: ReadOptions): Promise<Row> {
  return valueOfText<Row>(await readRecord(context, className, objectId, options));
}

/** Returns the result rows of an aggregation, in memory. @throws resultTooLarge (116); what `aggregateRecords` throws */
export async function aggregateRows(context: RecordContext, className: string, options: AggregateOptions): Promise<JsonObject[]> {
  return valueOfText<JsonObject[]>(await aggregateRecords(context, className, options));
}
