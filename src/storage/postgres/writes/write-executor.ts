import { isUnavailable, ServiceError } from '../../../errors/fail.ts';
import { Contention } from '../../../kernel/contention.ts';
import type { Schema } from '../../../schema/model.ts';
import { Overtaken } from '../../port.ts';
import type { Statement } from '../../sql/writer.ts';
import { storeInvalidation } from '../cluster/invalidation.ts';
import { WRITE_LOCK_LIMIT_MS } from '../connection/connect.ts';
import type { Row } from '../connection/database.ts';
import {
  CommitUnknown,
  isConnectionError,
  isLockTimeout,
  isSchemaStale,
  isStatementLocal,
  mayRetry,
  unavailable,
} from '../connection/map-error.ts';
import type { SchemaCache } from '../schema/schema-cache.ts';
import { cancelBuilds } from '../schema/search-index.ts';
import { Autovacuums } from './autovacuum.ts';
import { tablesOf, watchedAmong } from './compile-group.ts';
import type { CompileContext } from './compile-mutation.ts';
import { requireConditions } from './conditions.ts';
import { executeGroup, type GroupExecution } from './execute-group.ts';
import { executePlan } from './execute-plan.ts';
import { GroupFailed, refusalOf } from './map-error.ts';
import { heldTables, Obstructed, obstaclesOf, tableObstacle, unnamedObstacles } from './obstacles.ts';
import type { Executor, Left, Patience, QueuedWrite } from './queued-write.ts';
import { changeSchema } from './schema-change.ts';
import { schemaVersionGuard } from './schema-version-guard.ts';
import { isAssertionFailure } from './sql-assertion.ts';
import type { Transactions } from './transaction.ts';

/** The pause until a transaction is run again that others were in the way of, in milliseconds: what it grows by, and the longest. */
const PAUSE_STEP_MS = 15;
const MAX_PAUSE_MS = 150;

/** What writes of a system are carried out with. */
export interface ExecutorContext extends CompileContext {
  readonly transactions: Transactions;
  readonly schemaName: string;
  readonly known: SchemaCache;
  /** Reads the schema anew. */
  reload(): Promise<void>;
  /** These tables have been written to, or may have been. */
  written(tables: ReadonlySet<string>): void;
  /** The error that a write is rejected with, as its caller gets it. */
  rejection(error: unknown): unknown;
  /** Reads what others hold of the system's tables now (obstacles.ts, autovacuum.ts). */
  look(statement: Statement): Promise<readonly Row[]>;
}

/** What writes are carried out under. */
interface Under {
  /** The schema's count of changes when they were planned. */
  readonly changes: number;
  /** Milliseconds that they may wait for a lock. */
  readonly lockLimit: number;
}

/** Milliseconds: `long` is for records, for which other transactions wait too, in their order. */
const LOCK_LIMITS: Readonly<Record<Patience, number>> = { short: WRITE_LOCK_LIMIT_MS, long: 2_000 };

/** The schema has changed since the writes were planned. */
class SchemaMoved extends Error {}

/** Carries groups of writes out, each in one round trip where all goes well; where it does not, each write fails alone. */
export class WriteExecutor implements Executor {
  readonly #context: ExecutorContext;
  readonly #autovacuums: Autovacuums;

  constructor(context: ExecutorContext) {
    this.#context = context;
    this.#autovacuums = new Autovacuums((statement) => context.look(statement), context.schemaName);
  }

  schema(): Schema {
    return this.#context.known.schema;
  }

  execute(group: readonly QueuedWrite[], patience: Patience): Promise<Left> {
    const under: Under = { changes: this.#context.known.changes, lockLimit: LOCK_LIMITS[patience] };
    return this.#settled(group, () => this.#execute(group, under, true));
  }

  executeChange(write: QueuedWrite): Promise<Left> {
    let mayCancel = true;
    const grow = async (lockLimit: number): Promise<void> => {
      try {
        await changeSchema(this.#context, write, lockLimit);
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        if (mayCancel && (await this.#cancelsBuild(write))) {
          mayCancel = false;
          return grow(lockLimit);
        }
        const waitMs = lockLimit === WRITE_LOCK_LIMIT_MS ? await this.#autovacuums.waitFor(obstaclesOf(write)) : 0;
        if (waitMs === 0) throw await this.#obstructed([write], [write], error);
        await grow(waitMs);
        this.#autovacuums.gaveWay();
      }
    };
    return this.#settled([write], () => grow(WRITE_LOCK_LIMIT_MS));
  }

  /** Whether a search index was being made of a table that a write changes: that is ended, and begun again later. */
  async #cancelsBuild({ plan, plannedUnder }: QueuedWrite): Promise<boolean> {
    const names = new Set(plan.changes.flatMap((change) => ('className' in change ? [change.className] : [])));
    const tables = [...names].flatMap((name) => plannedUnder.tables.get(name) ?? []);
    if (tables.length === 0) return false;
    const ended = await this.#context.look(cancelBuilds(this.#context.schemaName, tables)).catch(() => []);
    return ended.length > 0;
  }

  /** @returns the writes that the work has not settled */
  async #settled(writes: readonly QueuedWrite[], work: () => Promise<void>): Promise<Left> {
    const open = () => writes.filter(({ isSettled }) => !isSettled);
    try {
      await work();
    } catch (error) {
      if (error instanceof Obstructed) {
        // The time in which others hold what it needs has a bound of its own.
        for (const write of open()) write.contention = undefined;
        return { again: open(), obstacles: error.obstacles };
      }
      if (!(error instanceof SchemaMoved)) this.#reject(open(), error);
    }
    for (const write of open()) {
      write.contention ??= new Contention();
      if (write.contention.isOver) this.#reject([write], unavailable());
      else await write.contention.next(0);
    }
    return { again: open(), obstacles: [] };
  }

  /**
   * What is in the way of writes, for which a lock was not had in time: tables that others hold, or else the records of those of the writes
   * that failed; of all of them where nobody knows which.
   */
  async #obstructed(writes: readonly QueuedWrite[], failing: readonly QueuedWrite[], cause: unknown): Promise<Obstructed> {
    const rows = await this.#context.look(heldTables(this.#context.schemaName)).catch(() => []);
    const held = new Set(rows.map(([name]) => tableObstacle(String(name))));
    const tables = writes.flatMap(obstaclesOf).filter((obstacle) => held.has(obstacle));
    if (tables.length > 0) return new Obstructed([...new Set(tables)], cause);
    const slow = failing.length > 0 ? failing : writes;
    if (failing.length === 0) for (const write of writes) write.isSuspect = true;
    return new Obstructed([...new Set(unnamedObstacles(slow))], cause);
  }

  #reject(writes: readonly QueuedWrite[], error: unknown): void {
    for (const write of writes) if (!write.isSettled) write.reject(this.#context.rejection(error));
  }

  async #execute(group: readonly QueuedWrite[], under: Under, merged: boolean): Promise<void> {
    const [first] = group;
    if (!first) return;
    const attempt: GroupExecution = { ...this.#context, ...under, group, merged };
    let failed: GroupFailed;
    try {
      const rest = await this.#tried(group, () => executeGroup(attempt));
      return this.#execute(rest, under, merged);
    } catch (error) {
      if (!(error instanceof GroupFailed)) throw error;
      failed = error;
    }
    const { before, failing, after } = failed;
    if (isLockTimeout(failed.cause)) throw await this.#obstructed(group, failing, failed.cause);
    const isOfFew = isStatementLocal(failed.cause) && group.length > 1 && failing.length > 0;
    if (isUnavailable(failed.cause) && !isOfFew) throw failed.cause;
    if (failed.cause instanceof Overtaken) {
      for (const write of failing) write.reject(failed.cause);
      await this.#execute([...before, ...after], under, merged);
      return;
    }
    await this.#unlessMoved(failed.cause, under.changes);
    if (group.length === 1) return this.#alone(first, under, failed.cause);
    if (failing.length === 0) {
      // The notice or the commit: nobody's own failure.
      if (!isSchemaStale(failed.cause)) throw failed.cause;
      // The locks of all: a table of one of them is missing.
      for (const write of group) await this.#part([write], under, false);
      return;
    }
    await this.#part(before, under, merged);
    await this.#part(failing, under, false);
    await this.#part(after, under, merged);
  }

  /** Writes of a group by themselves: what becomes of them, in doubt say, is nothing to the others. @throws SchemaMoved, Obstructed */
  async #part(writes: readonly QueuedWrite[], under: Under, merged: boolean): Promise<void> {
    try {
      await this.#execute(writes, under, merged);
    } catch (error) {
      if (error instanceof SchemaMoved || error instanceof Obstructed) throw error;
      this.#reject(writes, error);
    }
  }

  /** One write that failed, once more by itself and step by step, so that its own error comes out. @throws SchemaMoved, Obstructed */
  async #alone(write: QueuedWrite, { changes, lockLimit }: Under, failure: unknown): Promise<void> {
    const { transactions, schemaName, written } = this.#context;
    const { plan, plannedUnder } = write;
    const [only, ...others] = plan.mutations;
    const refusal = only && others.length === 0 ? refusalOf(failure, only) : undefined;
    if (refusal instanceof ServiceError) {
      write.reject(refusal);
      return;
    }
    const tables = tablesOf([plan]);
    const watched = watchedAmong(tables);
    const work = () =>
      transactions.transact(
        async (session) => {
          await requireConditions(session, plan, this.#context);
          const text = await executePlan(session, plan, plannedUnder, this.#context);
          if (watched.length > 0) await session.query(storeInvalidation(schemaName, { schemaChanged: false, tables: watched }));
          await session.query(schemaVersionGuard(schemaName, changes));
          return text;
        },
        { lockLimit },
      );
    try {
      const returned = await this.#tried([write], work);
      written(tables);
      write.resolve({ returned });
    } catch (error) {
      if (isLockTimeout(error)) throw await this.#obstructed([write], [write], error);
      await this.#unlessMoved(error, changes);
      this.#reject([write], error);
    }
  }

  /** @throws SchemaMoved where the error may come of another schema than was known, which is known by then */
  async #unlessMoved(error: unknown, changes: number): Promise<void> {
    if (!isAssertionFailure(error) && !isSchemaStale(error)) return;
    await this.#context.reload();
    if (this.#context.known.changes !== changes) throw new SchemaMoved();
  }

  /**
   * Runs a transaction again where others were in its way, or where the connection was lost before it was sent.
   * @throws unavailable where they still are
   */
  async #tried<T>(writes: readonly QueuedWrite[], transaction: () => Promise<T>): Promise<T> {
    const contention = new Contention();
    for (;;)
      try {
        return await transaction();
      } catch (error) {
        if (error instanceof CommitUnknown) this.#context.written(tablesOf(writes.map(({ plan }) => plan)));
        const cause = error instanceof GroupFailed ? error.cause : error;
        // Others may go on meanwhile.
        if (isLockTimeout(cause)) throw error;
        const isUnsent = isUnavailable(cause) && isConnectionError(cause);
        if (!(mayRetry(cause) || (isUnsent && contention.attempt === 1))) throw error;
        if (contention.isOver) throw unavailable(cause);
        await (isUnsent ? contention.next(0) : contention.next(PAUSE_STEP_MS, MAX_PAUSE_MS));
      }
  }
}
