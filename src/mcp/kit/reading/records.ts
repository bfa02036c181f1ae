import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { aggregateRecords, findRecords, getRecord } from '../../../records/index.ts';
import { wholeText } from '../../../storage/port.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { LIST_BYTES, oneMore, type Page, pageOf } from '../answers/page.ts';
import { withoutUnasked } from './without-unasked.ts';

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
export async function findRows(call: ToolCall, table: string, ask: Ask): Promise<Row[]> {
  return JSON.parse(await findText(call, table, ask)) as Row[];
}

/** As much of a list as an answer takes: its text tells whether that is all, so that rows need not be measured. @throws what `findRecords` throws */
export async function findPage(call: ToolCall, table: string, ask: Ask): Promise<Page> {
  const text = await findText(call, table, { ...ask, limit: oneMore(ask.limit) });
  const fits = text.length <= LIST_BYTES / 3 || Buffer.byteLength(text) <= LIST_BYTES;
  const rows = withoutUnasked(JSON.parse(text) as Row[], ask.keys);
  return pageOf(rows, ask, fits ? Number.POSITIVE_INFINITY : LIST_BYTES);
}

async function findText(call: ToolCall, table: string, ask: Ask): Promise<string> {
  const { results } = await findRecords(call.context, table, parametersOf(ask));
  return wholeText(results);
}

/** Makes sure that the caller may find in a table: who may not learns nothing of its fields. @throws what `findRecords` throws */
export async function requireFind(call: ToolCall, table: string): Promise<void> {
  await findRows(call, table, { limit: 0 });
}

/** So many ids go into one query: a `where` has 2,000 constraints. */
const AT_ONCE = 1_000;

/** Those of some records that the caller may find. @throws what `findRecords` throws */
export async function rowsWithIds(
  call: ToolCall,
  table: string,
  ids: Iterable<string>,
  keys: readonly string[] = ['objectId'],
): Promise<Row[]> {
  const sought = [...new Set(ids)];
  const rows: Row[] = [];
  for (let at = 0; at < sought.length; at += AT_ONCE) {
    const some = sought.slice(at, at + AT_ONCE);
    rows.push(...(await findRows(call, table, { where: { objectId: { $in: some } }, keys, limit: some.length })));
  }
  return rows;
}

/** How many records match, of those that the caller may find. */
export async function countRows(call: ToolCall, table: string, where?: JsonObject): Promise<number> {
  const parameters = parametersOf({ where, limit: 0 }).set('count', 1);
  const { count = 0 } = await findRecords(call.context, table, parameters);
  return count;
}

/** One record. @throws objectNotFound (101) */
export async function getRow(
  call: ToolCall,
  table: string,
  objectId: string,
  selection: Pick<Ask, 'keys' | 'include'> = {},
): Promise<Row> {
  return JSON.parse(await getRecord(call.context, table, objectId, selectionOf(selection))) as Row;
}

/**
 * Rows of an aggregation (CONTRACT "Records": GET classes-aggregate).
 * @param pipeline stages as REST takes them
 * @param where which records; unlike `$match` it means what it means in a query
 */
export async function aggregateRows(
  call: ToolCall,
  table: string,
  pipeline: readonly JsonObject[],
  where?: JsonObject,
): Promise<JsonObject[]> {
  const parameters = new Map<string, JsonValue>([['pipeline', JSON.stringify(pipeline)]]);
  if (where) parameters.set('where', where);
  const text = await aggregateRecords(call.context, table, parameters);
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
