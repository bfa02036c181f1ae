import { mayKnowTable } from '../../access/index.ts';
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

/** What to read of a table. Names may come together, divided by commas: agents send them so. */
export interface Ask {
  readonly where?: JsonObject | undefined;
  readonly within?: SplitOptions['within'];
  readonly keys?: readonly string[] | undefined;
  readonly order?: string | undefined;
  readonly limit: number;
  readonly skip?: number | undefined;
  readonly stride?: number | undefined;
  readonly include?: readonly string[] | undefined;
  /** Characters of JSON text that the records have at most; left out: as many as memory should hold. */
  readonly most?: number | undefined;
}

/**
 * The records of a table that the caller may find; none of a table that there is not (SPEC "Records: Query").
 * @throws resultTooLarge (116); what `findRecords` throws
 */
export function findRows(context: CrmContext, table: string, { most, ...ask }: Ask): Promise<Row[]> {
  return records.findRows(context, table, new SplitOptions(ask), most);
}

/** The `limit` to read with, so that it shows whether there are more; 0 stays 0. */
export const oneMore = (limit: number): number => (limit === 0 ? 0 : limit + 1);

/** Makes sure that the caller may find in a table: who may not learns nothing of its fields. @throws what `findRecords` throws */
export async function requireFind(context: CrmContext, table: string): Promise<void> {
  await findRows(context, table, { limit: 0 });
}

/** So many ids go into one query: a `where` has 2,000 constraints. */
const BATCH_SIZE = 1_000;

/** Those of some records that the caller may find. @param most as of `Ask`, of so many as go into one query @throws what `findRows` throws */
export async function rowsWithIds(
  context: CrmContext,
  table: string,
  ids: Iterable<string>,
  keys: readonly string[] = ['objectId'],
  most?: number,
): Promise<Row[]> {
  const sought = [...new Set(ids)];
  const rows: Row[] = [];
  for (let at = 0; at < sought.length; at += BATCH_SIZE) {
    const some = sought.slice(at, at + BATCH_SIZE);
    rows.push(...(await findRows(context, table, { where: { objectId: { $in: some } }, keys, limit: some.length, most })));
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
  const options = keys.length + include.length > 0 ? new SplitOptions({ keys, include, limit: 1 }) : undefined;
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
  return records.aggregateRows(context, table, new BoundedPipeline(pipeline, where));
}

/** The options of an aggregation, whose extent is looked at when the core comes to it. */
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

/** A table of the system, as its schema is now. @throws classMissing (103) where there is none, or it is hidden */
export function tableNamed(context: CrmContext, className: string): TableSchema {
  const table = tableIfAny(context, className);
  return table && !isHidden(className) ? table : fail('classMissing', className);
}

/** The same; `undefined` where there is none. Systems are customised: tables of the template may be gone. */
export const tableIfAny = (context: CrmContext, className: string): TableSchema | undefined =>
  context.store.schema().tables.get(className);

/** The tables that the caller may know of, in the order of the schema. */
export const knownTables = ({ store, principal }: CrmContext): TableSchema[] =>
  [...store.schema().tables.values()].filter((table) => mayKnowTable(principal, table));

/** Those of some tables that this system has not. */
export const absentOf = (context: CrmContext, classNames: readonly string[]): string[] =>
  classNames.filter((className) => !tableIfAny(context, className));

/** What a read of a table tells that there is not: it has no records (SPEC "Errors"), which agents would take for an answer. */
export function noTable(className: string): JsonObject {
  return { hint: `There is no table ${className}: names are case-sensitive. Call Get-Schema with tablesNameOnly.` };
}

/** Whether a table, as this system has it, has a field of the type. */
export const hasField = (context: CrmContext, table: string, name: string, type: FieldType): boolean =>
  tableIfAny(context, table)?.fields.get(name)?.type === type;

/** A field may be gone, or of another type. @throws invalidArguments (107) */
export function requireField({ className, fields }: TableSchema, name: string, type: FieldType): void {
  if (fields.get(name)?.type !== type)
    badArguments(`${className} has no field ${name} of type ${type} in this system`, { next: 'Get-Schema' });
}

/** Those of the names that no field of a table has; of dotted names the first part counts. @throws classMissing (103) */
export function unknownFields(context: CrmContext, table: string, names: Iterable<string>): string[] {
  const { fields } = tableNamed(context, table);
  return [...new Set([...names].map(rootOf))].filter((name) => !fields.has(name));
}

/** Only what a table, as this system has it, has fields for. @throws classMissing (103) */
export function knownFields(context: CrmContext, table: string, data: JsonObject): JsonObject {
  const { fields } = tableNamed(context, table);
  return Object.fromEntries(Object.entries(data).filter(([name]) => fields.has(name)));
}
