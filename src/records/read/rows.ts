import type { JsonObject } from '../../kernel/json.ts';
import type { AggregateOptions, FindOptions, ReadOptions } from '../../query/index.ts';
import { rowsOf, valueOfText } from '../../storage/text-values.ts';
import type { RecordContext } from '../context/context.ts';
import { aggregateRecords, findRecords, readRecord } from './find.ts';

/** A record in wire form, as its caller may see it: Dates, Pointers and Files are objects with `__type`. */
export type Row = JsonObject & { objectId: string };

/**
 * The records of a query, in memory (SPEC "Records: Query").
 * @throws resultTooLarge (116); what `findRecords` throws
 */
export async function findRows(context: RecordContext, className: string, options: FindOptions): Promise<Row[]> {
  return rowsOf<Row>(await findRecords(context, className, options, true));
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
