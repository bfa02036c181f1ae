import type { TableSchema } from '../../schema/model.ts';
import { quoted } from '../sql/writer.ts';
import type { Connection } from './connection.ts';

/** A table has no more records than this: the end of its row ids, which SQLite finds at once whatever its size. */
export function mostRecords(connection: Connection, table: TableSchema): number {
  const [last] = connection.first({ text: `SELECT max("_seq") FROM ${quoted(table.sqlName)}`, params: [] }) as [number | null];
  return last ?? 0;
}
