import { listedTables } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { AggregateOptions } from '../../query/index.ts';
import { SplitOptions } from '../../query/model/names.ts';
import { checkExtent } from '../../query/parameters.ts';
import * as records from '../../records/index.ts';
import { type FieldType, rootOf, type TableSchema } from '../../schema/model.ts';
import { isHidden } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { badArguments } from '../refusals.ts';

export type { Row } from '../../records/index.ts';

type Row = records.Row;

/** A query of a table. A name in `keys` or `include` may be a comma-separated list: agents send such. */
export interface Ask {
  readonly where?: JsonObject | undefined;
  readonly within?: SplitOptions['within'];
  readonly keys?: readonly string[] | undefined;
  readonly keysAlone?: boolean | undefined;
  readonly order?: string | undefined;
  readonly limit: number;
  readonly skip?: number | undefined;
  readonly stride?: number | undefined;
  readonly include?: readonly string[] | undefined;
  /** Maximum number of JSON characters of the result; absent: the limit of the records layer. */
  readonly maxChars?: number | undefined;
}

/**
 * Returns the records of a table that the caller may find; none if the table does not exist (queries.md#parameters).
 * @throws resultTooLarge (116); what `findRecords` throws
 */
export function findRows(context: CrmContext, table: string, { maxChars, ...ask }: Ask): Promise<Row[]> {
  return records.findRows(context, table, new SplitOptions(ask), maxChars);
}

/** Like `findRows`, but returns the text of each record as it stands inside a JSON string. @throws what `findRows` throws */
export function findEscaped(context: CrmContext, table: string, ask: Omit<Ask, 'maxChars'>): Promise<readonly string[]> {
  return records.findEscaped(context, table, new SplitOptions(ask));
}

/** Returns the `limit` to read with so that the result shows whether there are more; 0 stays 0. */
export const oneMore = (limit: number): number => (limit === 0 ? 0 : limit + 1);

/** Checks that the caller may find in a table; without this permission, nothing about its fields is revealed. @throws what `findRecords` throws */
export async function requireFind(context: CrmContext, table: string): Promise<void> {
  await findRows(context, table, { limit: 0 });
}

/** Ids per query: a `where` takes 2,000 constraints. */
const BATCH_SIZE = 1_000;

/** Returns those of the records that the caller may find. @param maxChars as `Ask.maxChars`, per query @throws what `findRows` throws */
export async function rowsWithIds(
  context: CrmContext,
  table: string,
  ids: Iterable<string>,
  keys: readonly string[] = ['objectId'],
  maxChars?: number,
): Promise<Row[]> {
  const distinct = [...new Set(ids)];
  const rows: Row[] = [];
  for (let at = 0; at < distinct.length; at += BATCH_SIZE) {
    const some = distinct.slice(at, at + BATCH_SIZE);
    rows.push(...(await findRows(context, table, { where: { objectId: { $in: some } }, keys, limit: some.length, maxChars })));
  }
  return rows;
}

/** Counts the matching records that the caller may find. */
export function countRows(context: CrmContext, table: string, where?: JsonObject): Promise<number> {
  return records.countRecords(context, table, where);
}

/** Returns one record. @throws objectNotFound (101) */
export function getRow(
  context: CrmContext,
  table: string,
  objectId: string,
  { keys = [], include = [] }: Pick<Ask, 'keys' | 'include'> = {},
): Promise<Row> {
  const options = keys.length + include.length > 0 ? new SplitOptions({ keys, include, limit: 1 }) : undefined;
  return records.getRow(context, table, objectId, options);
}

/**
 * Returns the rows of an aggregation. Reference: aggregation.md#request.
 * @param pipeline stages in wire form
 * @param where selects the records; unlike `$match` it has the meaning of a query's `where`
 */
export function aggregateRows(
  context: CrmContext,
  table: string,
  pipeline: readonly JsonObject[],
  where?: JsonObject,
): Promise<JsonObject[]> {
  return records.aggregateRows(context, table, new BoundedPipeline(pipeline, where));
}

/** Options of an aggregation. The size of the pipeline is checked when it is first read, i.e. after the permissions. */
class BoundedPipeline implements AggregateOptions {
  readonly where: AggregateOptions['where'];
  readonly #pipeline: readonly JsonObject[];

  constructor(pipeline: readonly JsonObject[], where: JsonObject | undefined) {
    this.#pipeline = pipeline;
    this.where = where;
  }

  get pipeline(): readonly JsonObject[] {
    checkExtent(this.#pipeline);
    return this.#pipeline;
  }
}

/** Returns the current schema of a table. @throws classMissing (103) if it does not exist or is hidden */
export function tableNamed(context: CrmContext, className: string): TableSchema {
  const table = tableIfAny(context, className);
  return table && !isHidden(className) ? table : fail('classMissing', className);
}

/** Returns the current schema of a table; `undefined` if it does not exist. Systems are customised: tables of the template may have been deleted. */
export const tableIfAny = (context: CrmContext, className: string): TableSchema | undefined =>
  context.store.schema().tables.get(className);

/** Returns the tables that lists show the caller, in schema order. */
export const knownTables = ({ store, principal }: CrmContext): TableSchema[] => listedTables(store.durableSchema(), principal);

/** Returns those of the tables that this system does not have. */
export const absentOf = (context: CrmContext, classNames: readonly string[]): string[] =>
  classNames.filter((className) => !tableIfAny(context, className));

/** Hint for a read of a table that does not exist: it returns no records (queries.md#parameters), which an agent would take for a valid result. */
export function noTable(className: string): JsonObject {
  return { hint: `There is no table ${className}: names are case-sensitive. Call Get-Schema with tablesNameOnly.` };
}

/** Whether a table of this system has a field of this type. */
export const hasField = (context: CrmContext, table: string, name: string, type: FieldType): boolean =>
  tableIfAny(context, table)?.fields.get(name)?.type === type;

/** Checks for a field, which may have been deleted or have another type in this system. @throws invalidArguments (107) */
export function requireField({ className, fields }: TableSchema, name: string, type: FieldType): void {
  if (fields.get(name)?.type !== type)
    badArguments(`${className} has no field ${name} of type ${type} in this system`, { next: 'Get-Schema' });
}

/** Returns the names that no field of a table has; of dotted names the first part counts. @throws classMissing (103) */
export function unknownFields(context: CrmContext, table: string, names: Iterable<string>): string[] {
  const { fields } = tableNamed(context, table);
  return [...new Set([...names].map(rootOf))].filter((name) => !fields.has(name));
}

/** Keeps only the values that this system's table has fields for. @throws classMissing (103) */
export function knownFields(context: CrmContext, table: string, data: JsonObject): JsonObject {
  const { fields } = tableNamed(context, table);
  return Object.fromEntries(Object.entries(data).filter(([name]) => fields.has(name)));
}
