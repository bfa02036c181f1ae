import type { DatabaseSync } from 'node:sqlite';
import { applyChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import type { PreparedWrite, Store, WriteOutcome, WritePlan } from '../port.ts';
import { createCatalog, loadSchema, saveChange } from './catalog.ts';
import { Connection } from './connection.ts';
import { applyDdl } from './ddl.ts';
import { GroupCommit } from './group-commit.ts';
import { carryOut } from './mutate.ts';
import { SqliteReader } from './reader.ts';
import type { ReaderPool } from './reader-pool.ts';

/** Writes between two checkpoints. */
const CHECKPOINT_EVERY = 2_000;

/** One system on one SQLite file: a connection that writes and answers the short reads, and reader threads for the rest. */
export class SqliteStore implements Store {
  readonly capabilities = { manyProcesses: false };
  readonly reader: SqliteReader;
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #pool: ReaderPool;
  readonly #path: string;
  #schema: Schema;
  #sinceCheckpoint = 0;

  /** Opens the file, making it where there is none. */
  constructor(path: string, pool: ReaderPool) {
    this.#path = path;
    this.#pool = pool;
    this.#connection = new Connection(path, 'write');
    createCatalog(this.#connection.db);
    this.#schema = loadSchema(this.#connection.db);
    this.#commits = new GroupCommit(this.#connection, {
      committed: (writes) => this.#countWrites(writes),
      rolledBack: () => {
        this.#schema = loadSchema(this.#connection.db);
      },
    });
    this.reader = new SqliteReader(path, this.#connection, pool);
  }

  schema(): Schema {
    return this.#schema;
  }

  async write(write: PreparedWrite): Promise<WriteOutcome> {
    const planned = this.#schema;
    const plan = write.plan(planned);
    return this.#commits.run(() => this.#carryOut(this.#schema === planned ? plan : write.plan(this.#schema)));
  }

  #carryOut(plan: WritePlan): WriteOutcome {
    const before = this.#schema;
    try {
      if (plan.changes.length > 0) this.#connection.forgetPlans();
      for (const change of plan.changes) {
        const after = applyChange(this.#schema, change);
        applyDdl(this.#connection.db, change, this.#schema, after);
        saveChange(this.#connection.db, change, after);
        this.#schema = after;
      }
      let returned = '';
      for (const mutation of plan.mutations) returned += carryOut(this.#connection, mutation, this.#schema);
      return { returned };
    } catch (error) {
      this.#schema = before;
      throw error;
    }
  }

  #countWrites(writes: number): void {
    this.#sinceCheckpoint += writes;
    if (this.#sinceCheckpoint < CHECKPOINT_EVERY) return;
    this.#sinceCheckpoint = 0;
    void this.#pool.checkpoint(this.#path);
  }

  async close(): Promise<void> {
    this.#commits.close();
    await this.#pool.forget(this.#path);
    checkpoint(this.#connection.db);
    this.#connection.close();
  }
}

/** Empties the write-ahead log into the database file, so that a closed system is one file. */
function checkpoint(db: DatabaseSync): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}
