/** Stores for tests that write records as a service does; several of them on one database stand for several processes. */
import pg from 'pg';
import { master } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type FindOptions, FindParameters } from '../../../query/index.ts';
import type { FindResult } from '../../port.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { valueOfText, valuesReturned } from '../../text-values.ts';
import { PostgresCluster } from '../cluster/cluster.ts';
import { InvalidationBus } from '../cluster/invalidation.ts';
import { Liveness } from '../cluster/liveness.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { PostgresStore } from '../store.ts';
import { testDatabase } from './server.ts';

export const schemaName = 'rds_test';

/** Files of records do not matter to stores. */
const noFiles = { attach: (): never[] => [], resolve: async () => ({ kept: new Set<never>(), granted: new Set<never>() }) };

interface Context {
  readonly appId: string;
  readonly store: PostgresStore;
  readonly principal: typeof master;
  readonly hooks: { observers: never[]; rules: Map<never, never>; files: typeof noFiles };
  readonly referer: null;
}

interface Updated {
  readonly updatedAt: string;
  readonly objectId: string;
  readonly returned: string;
}

/** The operations of `records/`, which tests pass in, because that layer is above the stores. */
export interface RecordOperations<Created> {
  createRecord(context: Context, className: string, body: JsonObject): Promise<Created>;
  updateRecord(context: Context, className: string, objectId: string, body: JsonObject): Promise<Updated>;
  deleteRecord(context: Context, className: string, objectId: string, flags: JsonObject): Promise<unknown>;
  getRow(context: Context, className: string, objectId: string): Promise<JsonObject>;
  findRecords(context: Context, className: string, options: FindOptions): Promise<FindResult>;
  updateSchema(context: Context, className: string, body: JsonObject): Promise<unknown>;
}

/** The store of one "process", with its own connections, notifications and caches. */
export class StoreProcess<Created> {
  readonly database: Database;
  readonly store: PostgresStore;
  readonly reported: string[];
  readonly #records: RecordOperations<Created>;

  private constructor(database: Database, store: PostgresStore, reported: string[], records: RecordOperations<Created>) {
    this.database = database;
    this.store = store;
    this.reported = reported;
    this.#records = records;
  }

  static async start<Created>(url: string, records: RecordOperations<Created>): Promise<StoreProcess<Created>> {
    const reported: string[] = [];
    const report = (fault: string) => reported.push(fault);
    const database = await connectDatabase(url, { timeLimit: 10_000 });
    const settings = {
      database,
      schemaName,
      invalidations: new InvalidationBus(),
      cluster: new PostgresCluster(database, new Liveness()),
      report,
      ...rowContext,
    };
    const store = await PostgresStore.open(settings, true);
    return new StoreProcess(database, store, reported, records);
  }

  #context = (): Context => ({
    appId: 'app',
    store: this.store,
    principal: master,
    hooks: { observers: [], rules: new Map<never, never>(), files: noFiles },
    referer: null,
  });

  create = (table: string, body: JsonObject) => this.#records.createRecord(this.#context(), table, body);
  update = async (table: string, id: string, body: JsonObject): Promise<JsonObject> => {
    const { returned, ...updated } = await this.#records.updateRecord(this.#context(), table, id, body);
    return { ...updated, ...valuesReturned(returned) };
  };
  remove = (table: string, id: string) => this.#records.deleteRecord(this.#context(), table, id, {});
  get = (table: string, id: string) => this.#records.getRow(this.#context(), table, id);
  change = (table: string, body: JsonObject) => this.#records.updateSchema(this.#context(), table, body);
  find = async (table: string, parameters: Record<string, string> = {}) => {
    const all = new Map(Object.entries({ limit: '10000', ...parameters }));
    const { results } = await this.#records.findRecords(this.#context(), table, new FindParameters(all));
    return valueOfText<JsonObject[]>(results);
  };

  /** Makes the store learn of what other processes did. */
  async follow(): Promise<void> {
    this.store.markStale();
    await this.store.whenCurrent();
  }

  async stop(): Promise<void> {
    await this.store.close();
    await this.database.close();
  }
}

/** Starts two of them on a separate database, with an additional connection; `close` ends everything. */
export async function twoProcesses<Created>(records: RecordOperations<Created>) {
  const place = await testDatabase();
  const [a, b] = [await StoreProcess.start(place.url, records), await StoreProcess.start(place.url, records)];
  const sql = new pg.Client({ connectionString: place.url });
  await sql.connect();
  const close = async () => {
    await a.stop();
    await b.stop();
    await sql.end();
    await place.drop();
  };
  return { place, a, b, sql, close };
}

/** Returns the outcome of each: `ok`, or the code of its error. */
export const statuses = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map((one) => (one.status === 'fulfilled' ? 'ok' : ((one.reason as { code?: unknown }).code ?? one.reason)));

export const increment = { n: { __op: 'Increment', amount: 1 } };
export const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });
