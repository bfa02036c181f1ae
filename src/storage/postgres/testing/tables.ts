import pg from 'pg';
import { type SchemaChange, stepsOf } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { EngineTables } from '../../sql/testing/tables.ts';
import type { Result, Row, Session } from '../connection/database.ts';
import { bindText, parserOf } from '../connection/wire-values.ts';
import { applyDdl } from '../schema/ddl.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { quotedName } from '../sql/names.ts';
import { type TestDatabase, testDatabase } from './server.ts';

const schemaName = 'rds_test';

/** Tables in a separate database for a test file, created as the engine creates them. */
export class PostgresTables extends EngineTables implements Session {
  readonly dialect = postgresDialect(schemaName);
  readonly database: TestDatabase;
  /** Messages of RAISE NOTICE. */
  readonly notices: string[] = [];
  readonly #client: pg.Client;
  #last: Promise<unknown> = Promise.resolve();

  static async create(): Promise<PostgresTables> {
    const database = await testDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`CREATE SCHEMA ${quotedName(schemaName)}`);
    return new PostgresTables(database, client);
  }

  private constructor(database: TestDatabase, client: pg.Client) {
    super();
    this.database = database;
    this.#client = client;
    client.on('notice', ({ message }) => this.notices.push(message ?? ''));
  }

  async close(): Promise<void> {
    await this.#client.end();
    await this.database.drop();
  }

  protected async apply(change: SchemaChange, before: Schema, after: Schema): Promise<void> {
    for (const step of stepsOf([change])) await applyDdl(this, schemaName, step, before, after);
  }

  query(statement: Statement): Promise<Result> {
    const result = this.#last.then(() => this.#query(statement));
    this.#last = result.catch(() => {});
    return result;
  }

  async #query({ text, params }: Statement): Promise<Result> {
    const types = { getTypeParser: (oid: number) => parserOf(oid) };
    const config = { text, values: params.map(bindText), rowMode: 'array', types };
    const { rows, rowCount } = await this.#client.query(config as pg.QueryArrayConfig);
    return { rows, affected: rowCount ?? 0 };
  }

  async run(statement: Statement): Promise<Row[]> {
    return (await this.query(statement)).rows;
  }

  /** Returns PostgreSQL's query plan of a statement. */
  async plan({ text, params }: Statement): Promise<string> {
    const rows = await this.run({ text: `EXPLAIN (COSTS OFF) ${text}`, params });
    return rows.map(([line]) => line).join('\n');
  }
}
