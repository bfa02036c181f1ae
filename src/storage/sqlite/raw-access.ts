import type { Field, TableSchema } from '../../schema/model.ts';
import { columnFields } from '../column-values.ts';
import {
  CHUNK_BYTES,
  type RawAccess,
  type RawReads,
  RowsRefused,
  type StoredMember,
  type StoredRow,
  type StoreSnapshot,
} from '../raw-access.ts';
import { quoted } from '../sql/sql-writer.ts';
import { Connection } from './connection/connection.ts';
import { maxRowCount } from './connection/statements.ts';
import { loadSchema } from './schema/catalog.ts';
import type { WriteQueue } from './writes/write-queue.ts';

/** Raw reads of a file's contents. */
class SqliteRawReads implements RawReads {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async count({ sqlName }: TableSchema): Promise<number> {
    const [count] = this.connection.first({ text: `SELECT count(*) FROM ${quoted(sqlName)}`, params: [] }) as [number];
    return count;
  }

  async rows(table: TableSchema, after: number, atMost: number, among?: readonly string[]): Promise<StoredRow[]> {
    // With ids the unary + keeps SQLite from reading the table in the order of "_seq" instead of by its index of ids.
    const own = among ? '+' : '';
    const ids = among ? ' AND "objectId" IN (SELECT value FROM json_each(?))' : '';
    const text = `SELECT ${columnsOf(table)} FROM ${quoted(table.sqlName)} WHERE ${own}"_seq" > ?${ids} ORDER BY ${own}"_seq" LIMIT ?`;
    const rows: StoredRow[] = [];
    let bytes = 0;
    const params = [after, ...(among ? [JSON.stringify(among)] : []), atMost];
    for (const row of this.connection.each({ text, params })) {
      rows.push(row as unknown as StoredRow);
      for (const value of row) if (typeof value === 'string') bytes += bytesOf(value);
      if (bytes >= CHUNK_BYTES) break;
    }
    return rows;
  }

  async members({ column }: Field, after: StoredMember | null, atMost: number): Promise<StoredMember[]> {
    const text = `SELECT owner, member FROM ${quoted(column)} WHERE (owner, member) > (?, ?) ORDER BY owner, member LIMIT ?`;
    return this.connection.all({ text, params: [...(after ?? ['', '']), atMost] }) as unknown as StoredMember[];
  }
}

/** Implements `Store.withSnapshot` with a separate connection, whose read transaction keeps one snapshot. @param path of the file */
export async function withSnapshot<T>(path: string, work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
  const connection = new Connection(path, 'read');
  try {
    connection.execute('BEGIN');
    const schema = connection.use(loadSchema);
    const reads = new SqliteRawReads(connection);
    return await work(Object.assign(reads, { schema }));
  } finally {
    connection.drop();
  }
}

/** Raw reads and inserts; the latter commit together with other writes. */
export class SqliteRawAccess extends SqliteRawReads implements RawAccess {
  readonly #commits: WriteQueue;

  constructor(connection: Connection, commits: WriteQueue) {
    super(connection);
    this.#commits = commits;
  }

  async lastPosition(table: TableSchema): Promise<number> {
    return maxRowCount(this.connection, table);
  }

  async lastMember({ column }: Field): Promise<StoredMember | null> {
    const text = `SELECT owner, member FROM ${quoted(column)} ORDER BY owner DESC, member DESC LIMIT 1`;
    return (this.connection.first({ text, params: [] }) as StoredMember | undefined) ?? null;
  }

  async leaveOutIndexes({ sqlName }: TableSchema): Promise<() => Promise<void>> {
    // Indexes of constraints have no SQL text.
    const text = `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`;
    const indexes = this.connection.all({ text, params: [sqlName] }) as [name: string, sql: string][];
    await this.#commits.run(() => {
      for (const [name] of indexes) this.connection.execute(`DROP INDEX ${quoted(name)}`);
    });
    return async () => {
      // Until the store is closed: indexes of the schema are built next, and memory would hold all keys of one.
      this.connection.sortInFiles();
      for (const [, sql] of indexes) await this.#add(() => this.connection.execute(sql));
    };
  }

  addRows(table: TableSchema, rows: readonly StoredRow[]): Promise<void> {
    const places = ['?', ...columnFields(table).map(() => '?')].join(', ');
    const text = `INSERT INTO ${quoted(table.sqlName)} (${columnsOf(table)}) VALUES (${places})`;
    return this.#add(() => {
      for (const row of rows) this.connection.run({ text, params: row });
    });
  }

  addMembers({ column }: Field, members: readonly StoredMember[]): Promise<void> {
    const text = `INSERT INTO ${quoted(column)} (owner, member) VALUES (?, ?)`;
    return this.#add(() => {
      for (const member of members) this.connection.run({ text, params: member });
    });
  }

  #add(work: () => void): Promise<void> {
    return this.#commits.run(work).catch((error) => {
      throw isOfValues(error) ? new RowsRefused((error as Error).message, { cause: error }) : error;
    });
  }
}

/** Texts with fewer characters are estimated: counting their bytes takes longer than reading them. */
const MAX_ESTIMATED_CHARS = 200;

/** Returns the UTF-8 bytes of a text; for a short one the maximum. */
const bytesOf = (text: string): number => (text.length < MAX_ESTIMATED_CHARS ? text.length * 3 : Buffer.byteLength(text));

/** CONSTRAINT, MISMATCH (https://sqlite.org/rescode.html). */
function isOfValues(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: number };
  return errcode !== undefined && [19, 20].includes(errcode & 0xff);
}

function columnsOf(table: TableSchema): string {
  return ['_seq', ...columnFields(table).map(({ column }) => column)].map((name) => quoted(name)).join(', ');
}
