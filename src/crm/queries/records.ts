import type { JsonObject } from '../../kernel/json.ts';
import type { FindOptions } from '../../query/index.ts';
import { splitNames } from '../../query/keys.ts';
import * as records from '../../records/index.ts';
import type { CrmContext } from '../context.ts';

export type { Row } from '../../records/index.ts';

type Row = records.Row;

/** What to read of a table. Names may come together, divided by commas: agents send them so. */
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
export function findRows(context: CrmContext, table: string, ask: Ask): Promise<Row[]> {
  return records.findRows(context, table, optionsOf(ask));
}

/** The `limit` to read with, so that it shows whether there are more; 0 stays 0. */
export const oneMore = (limit: number): number => (limit === 0 ? 0 : limit + 1);

/** Makes sure that the caller may find in a table: who may not learns nothing of its fields. @throws what `findRecords` throws */
export async function requireFind(context: CrmContext, table: string): Promise<void> {
  await findRows(context, table, { limit: 0 });
}

/** So many ids go into one query: a `where` has 2,000 constraints. */
const BATCH_SIZE = 1_000;

/** Those of some records that the caller may find. @throws what `findRecords` throws */
export async function rowsWithIds(
  context: CrmContext,
  table: string,
  ids: Iterable<string>,
  keys: readonly string[] = ['objectId'],
): Promise<Row[]> {
  const sought = [...new Set(ids)];
  const rows: Row[] = [];
  for (let at = 0; at < sought.length; at += BATCH_SIZE) {
    const some = sought.slice(at, at + BATCH_SIZE);
    rows.push(...(await findRows(context, table, { where: { objectId: { $in: some } }, keys, limit: some.length })));
  }
  return rows;
}

/** How many records match, of those that the caller may find. */
export function countRows(context: CrmContext, table: string, where?: JsonObject): Promise<number> {
  return records.countRecords(context, table, where);
}

/** One record. @throws objectNotFound (101) */
export function getRow(
  context: CrmContext,
  table: string,
  objectId: string,
  { keys = [], include = [] }: Pick<Ask, 'keys' | 'include'> = {},
): Promise<Row> {
  const options = keys.length + include.length > 0 ? optionsOf({ keys, include, limit: 1 }) : undefined;
  return records.getRow(context, table, objectId, options);
}

/**
 * Rows of an aggregation (CONTRACT "Records": GET classes-aggregate).
 * @param pipeline stages as REST takes them
 * @param where which records; unlike `$match` it means what it means in a query
 */
export function aggregateRows(
  context: CrmContext,
  table: string,
  pipeline: readonly JsonObject[],
  where?: JsonObject,
): Promise<JsonObject[]> {
  return records.aggregateRows(context, table, { pipeline, where });
}

const optionsOf = ({ where, keys, order, limit, skip, include }: Ask): FindOptions => ({
  where,
  limit,
  skip,
  keys: namesIn('keys', keys),
  include: namesIn('include', include),
  order: splitNames('order', order),
});

const namesIn = (option: string, names: readonly string[] | undefined): readonly string[] =>
  splitNames(
    option,
    names?.flatMap((name) => name.split(',')),
  );
