import { OperatorError } from '../../kernel/operator-error.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
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
import type { Dialect } from '../sql/dialect.ts';
import { writeRecordBytes } from '../sql/record-size.ts';
import { SqlWriter, type Statement } from '../sql/sql-writer.ts';
import type { Database, Row } from './connection/database.ts';
import { causeOf } from './connection/map-error.ts';
import { isTooLarge, isValueError } from './connection/value-errors.ts';
import { catalogFrom, loadStatement } from './schema/catalog.ts';
import { arrayLiteral } from './sql/arrays.ts';
import { postgresDialect } from './sql/dialect.ts';
import { columnArrays } from './writes/column-arrays.ts';

/** Runs a query in some transaction. */
type Query = (statement: Statement) => Promise<Row[]>;

/** Reads the rows of a system in stored form. */
class PostgresRawReads implements RawReads {
  protected readonly dialect: Dialect;
  protected readonly query: Query;

  constructor(query: Query, dialect: Dialect) {
    this.query = query;
    this.dialect = dialect;
  }

  async count({ sqlName }: TableSchema): Promise<number> {
    const [row] = await this.query({ text: `SELECT count(*) FROM ${this.dialect.table(sqlName)}`, params: [] });
    return row?.[0] as number;
  }

  async rows(table: TableSchema, after: number, limit: number, among?: readonly string[]): Promise<StoredRow[]> {
    const columns = (alias: string) => this.#columnsOf(table, alias);
    // Sum up the lengths before rows are sent, since the server sends all rows of a result. "its bytes" and "bytes before" clash with no column: no
    // column name contains a space.
    const out = new SqlWriter(this.dialect).add(`SELECT ${columns('r')} FROM (SELECT ${columns('q')}, `);
    out.add(`sum(q."its bytes") OVER (ORDER BY q."_seq") - q."its bytes" AS "bytes before" FROM (SELECT ${columns('t')}, `);
    writeRecordBytes(out, table, 't');
    out.add(' AS "its bytes" FROM ').table(table.sqlName).add(' AS t WHERE t."_seq" > ').bind(after);
    if (among) out.add(' AND t."objectId" = ANY(').bind(arrayLiteral(among)).add('::text[])');
    out.add(' ORDER BY t."_seq" LIMIT ').bind(limit);
    out.add(`) AS q) AS r WHERE r."bytes before" < ${CHUNK_BYTES} ORDER BY r."_seq"`);
    return (await this.query(out.statement())) as unknown as StoredRow[];
  }

  async members({ column }: Field, after: StoredMember | null, limit: number): Promise<StoredMember[]> {
    const from = this.dialect.table(column);
    const text = `SELECT owner, member FROM ${from} WHERE (owner, member) > ($1, $2) ORDER BY owner, member LIMIT $3`;
    return (await this.query({ text, params: [...(after ?? ['', '']), limit] })) as unknown as StoredMember[];
  }

  #columnsOf(table: TableSchema, alias: string): string {
    const columns = ['_seq', ...columnFields(table).map(({ column }) => column)];
    return columns.map((name) => `${alias}.${this.dialect.quoted(name)}`).join(', ');
  }
}

/** Implements `Store.withSnapshot` by a repeatable-read transaction: it sees what was committed before its first read. */
export function withSnapshot<T>(
  database: Database,
  schemaName: string,
  work: (snapshot: StoreSnapshot) => Promise<T>,
): Promise<T> {
  return database.transact(
    async (session) => {
      await session.query({ text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY', params: [] });
      const { schema } = catalogFrom((await session.query(loadStatement(schemaName))).rows);
      const reads = new PostgresRawReads(async (statement) => (await session.query(statement)).rows, postgresDialect(schemaName));
      return work(Object.assign(reads, { schema }));
    },
    { timeLimit: 0, idleLimit: 0, location: schemaName },
  );
}

/** Adds writes to `PostgresRawReads`. */
export class PostgresRawAccess extends PostgresRawReads implements RawAccess {
  readonly #database: Database;
  readonly #schemaName: string;

  constructor(database: Database, dialect: Dialect, schemaName: string) {
    // No time limit: moves between engines may take long.
    const query: Query = (statement) =>
      database.transact(async (session) => (await session.query(statement)).rows, { timeLimit: 0, location: schemaName });
    super(query, dialect);
    this.#database = database;
    this.#schemaName = schemaName;
  }

  async lastPosition({ sqlName }: TableSchema): Promise<number> {
    const text = `SELECT coalesce(max("_seq"), 0) FROM ${this.dialect.table(sqlName)}`;
    const [row] = await this.query({ text, params: [] });
    return row?.[0] as number;
  }

  async lastMember({ column }: Field): Promise<StoredMember | null> {
    const text = `SELECT owner, member FROM ${this.dialect.table(column)} ORDER BY owner DESC, member DESC LIMIT 1`;
    const [row] = await this.query({ text, params: [] });
    return (row as StoredMember | undefined) ?? null;
  }

  /** Does nothing: adding records is no faster without indexes. */
  async leaveOutIndexes(): Promise<() => Promise<void>> {
    return async () => {};
  }

  /**
   * Adds rows, in halves if they exceed a limit of PostgreSQL.
   * @throws RowsRefused; OperatorError for a record that PostgreSQL cannot store (the rows before it are added)
   */
  async addRows(table: TableSchema, rows: readonly StoredRow[]): Promise<void> {
    try {
      await this.#addRows(table, rows);
    } catch (error) {
      if (!isTooLarge(error)) throw refusedOr(error);
      if (rows.length === 1) throw tooLarge(table, rows[0] as StoredRow, error);
      const half = Math.ceil(rows.length / 2);
      await this.addRows(table, rows.slice(0, half));
      await this.addRows(table, rows.slice(half));
    }
  }

  async #addRows(table: TableSchema, rows: readonly StoredRow[]): Promise<void> {
    const places = { name: '_seq', type: 'bigint[]', literal: arrayLiteral(rows.map(([place]) => place)) };
    const fields = columnFields(table);
    const valuesOf = (at: number) => {
      const values = rows.map((row) => row[at + 1] as StoredValue);
      return storageOf(fields[at] as Field) === 'boolean' ? values.map((value) => value && value === 1) : values;
    };
    const columns = [places, ...columnArrays(table, fields, valuesOf, this.dialect)];
    const names = columns.map(({ name }) => this.dialect.quoted(name)).join(', ');
    const arrays = columns.map(({ type }, at) => `$${at + 1}::${type}`).join(', ');
    const into = this.dialect.table(table.sqlName);
    await this.#database.atomically(
      [
        {
          text: `INSERT INTO ${into} (${names}) SELECT * FROM unnest(${arrays})`,
          params: columns.map(({ literal }) => literal),
        },
        // Later records must get later places; other processes may be adding rows of higher places.
        { text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', params: [`record-service places of ${into}`] },
        {
          text: `SELECT setval(s, greatest($2, pg_sequence_last_value(s))) FROM CAST(pg_get_serial_sequence($1, '_seq') AS regclass) AS s`,
          params: [into, Math.max(...rows.map(([place]) => place))],
        },
      ],
      this.#schemaName,
    );
  }

  async addMembers({ column }: Field, members: readonly StoredMember[]): Promise<void> {
    const text = `INSERT INTO ${this.dialect.table(column)} (owner, member) SELECT * FROM unnest($1::text[], $2::text[])`;
    const sides = [0, 1].map((side) => arrayLiteral(members.map((member) => member[side] as string)));
    await this.#database.atomically([{ text, params: sides }], this.#schemaName).catch((error) => {
      throw refusedOr(error);
    });
  }
}

const refusedOr = (error: unknown): unknown =>
  isValueError(error) ? new RowsRefused((causeOf(error) as Error).message, { cause: error }) : error;

function tooLarge(table: TableSchema, row: StoredRow, error: unknown): OperatorError {
  const objectId = row[1 + columnFields(table).findIndex(({ name }) => name === 'objectId')];
  const why = (causeOf(error) as Error).message;
  return new OperatorError(
    `PostgreSQL cannot take the record ${JSON.stringify(objectId).slice(0, 100)} of ${table.className}: ${why}`,
  );
}
