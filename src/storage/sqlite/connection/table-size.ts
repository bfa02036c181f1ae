import type { TableSchema } from '../../../schema/model.ts';
import { quoted } from '../../sql/writer.ts';
import type { Connection } from './connection.ts';

/** A table has no more records than this: the end of its row ids, which SQLite finds at once whatever its size. */
export function maxRowCount(connection: Connection, table: TableSchema): number {
  const [last] = connection.first({ text: `SELECT max("_seq") FROM ${quoted(table.sqlName)}`, params: [] }) as [number | null];
  return last ?? 0;
}

/** Bytes of all texts of some fields together, those of fields that are not there yet left out. SQLite tells a length without the text. */
export function textBytes(connection: Connection, { sqlName, fields }: TableSchema, names: readonly string[]): number {
  const columns = names.flatMap((name) => fields.get(name)?.column ?? []);
  if (columns.length === 0) return 0;
  const bytes = columns.map((column) => `coalesce(octet_length(${quoted(column)}), 0)`).join(' + ');
  const [sum] = connection.first({ text: `SELECT sum(${bytes}) FROM ${quoted(sqlName)}`, params: [] }) as [number | null];
  return sum ?? 0;
}
