import type { Field, TableSchema } from '../../schema/model.ts';
import { columnFields } from '../column-values.ts';
import { CHUNK_BYTES, type RawAccess, type StoredMember, type StoredRow } from '../raw-access.ts';
import { quoted } from '../sql/writer.ts';
import type { Connection } from './connection/connection.ts';
import { maxRowCount } from './connection/statements.ts';
import type { WriteQueue } from './writes/write-queue.ts';

/** What a file holds, as it lies. */
export class SqliteRawAccess implements RawAccess {
  readonly #connection: Connection;
  readonly #commits: WriteQueue;

  constructor(connection: Connection, commits: WriteQueue) {
    this.#connection = connection;
    this.#commits = commits;
  }

  async count({ sqlName }: TableSchema): Promise<number> {
    const [count] = this.#connection.first({ text: `SELECT count(*) FROM ${quoted(sqlName)}`, params: [] }) as [number];
    return count;
  }

  async rows(table: TableSchema, after: number, atMost: number): Promise<StoredRow[]> {
    const text = `SELECT ${columnsOf(table)} FROM ${quoted(table.sqlName)} WHERE "_seq" > ? ORDER BY "_seq" LIMIT ?`;
    const rows: StoredRow[] = [];
    let bytes = 0;
    for (const row of this.#connection.each({ text, params: [after, atMost] })) {
      rows.push(row as unknown as StoredRow);
      for (const value of row) if (typeof value === 'string') bytes += Buffer.byteLength(value);
      if (bytes >= CHUNK_BYTES) break;
    }
    return rows;
  }

  async lastPlace(table: TableSchema): Promise<number> {
    return maxRowCount(this.#connection, table);
  }

  async members({ column }: Field, after: StoredMember | null, atMost: number): Promise<StoredMember[]> {
    const text = `SELECT owner, member FROM ${quoted(column)} WHERE (owner, member) > (?, ?) ORDER BY owner, member LIMIT ?`;
    return this.#connection.all({ text, params: [...(after ?? ['', '']), atMost] }) as unknown as StoredMember[];
  }

  async lastMember({ column }: Field): Promise<StoredMember | null> {
    const text = `SELECT owner, member FROM ${quoted(column)} ORDER BY owner DESC, member DESC LIMIT 1`;
    return (this.#connection.first({ text, params: [] }) as StoredMember | undefined) ?? null;
  }

  addRows(table: TableSchema, rows: readonly StoredRow[]): Promise<void> {
    const places = ['?', ...columnFields(table).map(() => '?')].join(', ');
    const text = `INSERT INTO ${quoted(table.sqlName)} (${columnsOf(table)}) VALUES (${places})`;
    return this.#commits.run(() => {
      for (const row of rows) this.#connection.run({ text, params: row });
    });
  }

  addMembers({ column }: Field, members: readonly StoredMember[]): Promise<void> {
    const text = `INSERT INTO ${quoted(column)} (owner, member) VALUES (?, ?)`;
    return this.#commits.run(() => {
      for (const member of members) this.#connection.run({ text, params: member });
    });
  }
}

function columnsOf(table: TableSchema): string {
  return ['_seq', ...columnFields(table).map(({ column }) => column)].map((name) => quoted(name)).join(', ');
}
