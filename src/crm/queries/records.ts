import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { aggregateRecords, findRecords, getRecord } from '../../records/index.ts';
import { wholeText } from '../../storage/port.ts';
import type { CrmContext } from '../context.ts';

/** A record in wire form. */
export type Row = JsonObject & { objectId: string };

/** What to read of a table: the query parameters of REST. */
export interface Ask {
  readonly where?: JsonObject | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly order?: string | undefined;
  readonly limit: number;
  readonly skip?: number | undefined;
  readonly include?: readonly string[] | undefined;
}

/**
 * The records of a table that the caller may find; none of a table that there is not (SPEC "Records: Query").
 * @throws what `findRecords` throws
 */
export async function findRows(context: CrmContext, table: string, ask: Ask): Promise<Row[]> {
  return JSON.parse(await findText(context, table, ask)) as Row[];
}

/** The same as JSON text. */
export async function findText(context: CrmContext, table: string, ask: Ask): Promise<string> {
  const { results } = await findRecords(context, table, parametersOf(ask));
  return wholeText(results);
}

/** The `limit` to read with, so that it shows whether there are more; 0 stays 0. */
export const oneMore = (limit: number): number => (limit === 0 ? 0 : limit + 1);

/** Makes sure that the caller may find in a table: who may not learns nothing of its fields. @throws what `findRecords` throws */
export async function requireFind(context: CrmContext, table: string): Promise<void> {
  await findRows(context, table, { limit: 0 });
}

/** So many ids go into one query: a `where` has 2,000 constraints. */
const AT_ONCE = 1_000;

/** Those of some records that the caller may find. @throws what `findRecords` throws */
export async function rowsWithIds(
  context: CrmContext,
  table: string,
  ids: Iterable<string>,
  keys: readonly string[] = ['objectId'],
): Promise<Row[]> {
  const sought = [...new Set(ids)];
  const rows: Row[] = [];
  for (let at = 0; at < sought.length; at += AT_ONCE) {
    const some = sought.slice(at, at + AT_ONCE);
    rows.push(...(await findRows(context, table, { where: { objectId: { $in: some } }, keys, limit: some.length })));
  }
  return rows;
}

/** How many records match, of those that the caller may find. */
export async function countRows(context: CrmContext, table: string, where?: JsonObject): Promise<number> {
  const parameters = parametersOf({ where, limit: 0 }).set('count', 1);
  const { count = 0 } = await findRecords(context, table, parameters);
  return count;
}

/** One record. @throws objectNotFound (101) */
export async function getRow(
  context: CrmContext,
  table: string,
  objectId: string,
  selection: Pick<Ask, 'keys' | 'include'> = {},
): Promise<Row> {
  return JSON.parse(await getRecord(context, table, objectId, selectionOf(selection))) as Row;
}

/**
 * Rows of an aggregation (CONTRACT "Records": GET classes-aggregate).
 * @param pipeline stages as REST takes them
 * @param where which records; unlike `$match` it means what it means in a query
 */
export async function aggregateRows(
  context: CrmContext,
  table: string,
  pipeline: readonly JsonObject[],
  where?: JsonObject,
): Promise<JsonObject[]> {
  const parameters = new Map<string, JsonValue>([['pipeline', JSON.stringify(pipeline)]]);
  if (where) parameters.set('where', where);
  const text = await aggregateRecords(context, table, parameters);
  return JSON.parse(await wholeText(text)) as JsonObject[];
}

function parametersOf({ where, order, limit, skip, ...selection }: Ask): Map<string, JsonValue> {
  const parameters = selectionOf(selection).set('limit', limit);
  if (where) parameters.set('where', where);
  if (order) parameters.set('order', order);
  if (skip) parameters.set('skip', skip);
  return parameters;
}

function selectionOf({ keys, include }: Pick<Ask, 'keys' | 'include'>): Map<string, JsonValue> {
  const parameters = new Map<string, JsonValue>();
  if (keys && keys.length > 0) parameters.set('keys', keys.join(','));
  if (include && include.length > 0) parameters.set('include', include.join(','));
  return parameters;
}
