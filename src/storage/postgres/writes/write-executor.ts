import { errorOfItem, isUnavailable, ServiceError } from '../../../errors/fail.ts';
import { Contention } from '../../../kernel/contention.ts';
import type { Schema } from '../../../schema/model.ts';
import { ConditionFailed } from '../../port.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { commitInvalidation } from '../cluster/invalidation.ts';
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
import { hasItems, tablesOf, watchedAmong } from './compile-group.ts';
import type { CompileContext } from './compile-mutation.ts';
import { requireConditions } from './conditions.ts';
import { executeGroup, type GroupExecution } from './execute-group.ts';
import { executePlan } from './execute-plan.ts';
import { duplicateKeyOf, GroupFailed, isUnknownIndex, refusalOf } from './map-error.ts';
import { heldTables, Obstructed, obstaclesOf, tableObstacle, unnamedObstacles } from './obstacles.ts';
import type { Executor, LockWait, QueuedWrite, Unfinished } from './queued-write.ts';
import { changeSchema } from './schema-change.ts';
import { schemaVersionGuard } from './schema-version-guard.ts';
import { isAssertionFailure } from './sql-assertion.ts';
import type { Transactions } from './transaction.ts';

/** Delay before a transaction is repeated after a conflict, in milliseconds: the increment per attempt, and the maximum. */
const RETRY_DELAY_STEP_MS = 15;
const MAX_RETRY_DELAY_MS = 150;

/** Services for executing writes of a system. */
export interface ExecutorContext extends CompileContext {
  readonly transactions: Transactions;
  readonly schemaName: string;
  readonly schemaCache: SchemaCache;
  /** Reloads the schema. */
  reloadSchema(): Promise<void>;
  /** Reports tables that were written to. @param isInDoubt whether only they may have been, and their notification may be lost */
  recordWrites(tables: ReadonlySet<string>, isInDoubt?: boolean): void;
  /** Records a fault and returns the error for the caller. */
  mapFault(error: unknown): unknown;
  /** Runs a query on locks of the system's tables (obstacles.ts, autovacuum.ts). */
  query(statement: Statement): Promise<readonly Row[]>;
}

/** Conditions under which writes are executed. */
interface PlannedUnder {
  /** Version of the schema they were planned under. */
  readonly changes: number;
  /** Milliseconds that they may wait for a lock. */
  readonly lockLimit: number;
}

/** Lock timeouts in milliseconds. `long` is for record locks, whose waiters queue in order. */
const LOCK_LIMITS: Readonly<Record<LockWait, number>> = { short: WRITE_LOCK_LIMIT_MS, long: 2_000 };

/** The schema has changed since the writes were planned. */
class SchemaVersionChanged extends Error {}

/** Executes groups of writes, each in one round trip if all succeed; otherwise each write fails alone. */
export class WriteExecutor implements Executor {
  readonly #context: ExecutorContext;
  readonly #autovacuums: Autovacuums;

  constructor(context: ExecutorContext) {
    this.#context = context;
    this.#autovacuums = new Autovacuums((statement) => context.query(statement), context.schemaName, context.isCoordinator);
  }

  schema(): Schema {
    return this.#context.schemaCache.schema;
  }

  execute(group: readonly QueuedWrite[], lockWait: LockWait): Promise<Unfinished> {
    const under: PlannedUnder = { changes: this.#context.schemaCache.changes, lockLimit: LOCK_LIMITS[lockWait] };
    return this.#runAndCollect(group, () => this.#execute(group, under, true));
  }

  executeChange(write: QueuedWrite): Promise<Unfinished> {
    let mayCancel = true;
    const grow = async (lockLimit: number): Promise<void> => {
      try {
        await changeSchema(this.#context, write, lockLimit);
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        if (mayCancel && (await this.#cancelBuild(write))) {
          mayCancel = false;
          return grow(lockLimit);
        }
        const waitMs = lockLimit === WRITE_LOCK_LIMIT_MS ? await this.#autovacuums.waitFor(obstaclesOf(write)) : 0;
        if (waitMs === 0) throw await this.#findObstacles([write], [write], error);
        await grow(waitMs);
        this.#autovacuums.onLockAcquired();
      }
    };
    return this.#runAndCollect([write], () => grow(WRITE_LOCK_LIMIT_MS));
  }

  /** Cancels a build of a search index on a table that a write changes; it starts again later. Returns whether there was one. */
  async #cancelBuild({ plan, plannedUnder }: QueuedWrite): Promise<boolean> {
    const names = new Set(plan.changes.flatMap((change) => ('className' in change ? [change.className] : [])));
    const tables = [...names].flatMap((name) => plannedUnder.tables.get(name) ?? []);
    if (tables.length === 0) return false;
    const ended = await this.#context.query(cancelBuilds(this.#context.schemaName, tables)).catch(() => []);
    return ended.length > 0;
  }

  /** Runs `work` and handles its errors. @returns the writes that remain unsettled */
  async #runAndCollect(writes: readonly QueuedWrite[], work: () => Promise<void>): Promise<Unfinished> {
    const open = () => writes.filter(({ isSettled }) => !isSettled);
    try {
      await work();
    } catch (error) {
      if (error instanceof Obstructed) {
        // Waiting for locks of others has its own time limit.
        for (const write of open()) write.contention = undefined;
        return { retry: open(), obstacles: error.obstacles };
      }
      if (!(error instanceof SchemaVersionChanged)) this.#reject(open(), error);
    }
    for (const write of open()) {
      write.contention ??= new Contention();
      if (write.contention.isOver) this.#reject([write], unavailable());
      else await write.contention.next(0);
    }
    return { retry: open(), obstacles: [] };
  }

  /**
   * Finds what blocks writes after a lock timeout: tables locked by others, or else the records of the failed writes; if it is unknown which
   * failed, those of all.
   */
  async #findObstacles(writes: readonly QueuedWrite[], failing: readonly QueuedWrite[], cause: unknown): Promise<Obstructed> {
    const rows = await this.#context.query(heldTables(this.#context.schemaName)).catch(() => []);
    const held = new Set(rows.map(([name]) => tableObstacle(String(name))));
    const tables = writes.flatMap(obstaclesOf).filter((obstacle) => held.has(obstacle));
    if (tables.length > 0) return new Obstructed([...new Set(tables)], cause);
    const slow = failing.length > 0 ? failing : writes;
    if (failing.length === 0) for (const write of writes) write.isSuspect = true;
    return new Obstructed([...new Set(unnamedObstacles(slow))], cause);
  }

  #reject(writes: readonly QueuedWrite[], error: unknown): void {
    for (const write of writes) if (!write.isSettled) write.reject(this.#context.mapFault(error));
  }

  async #execute(group: readonly QueuedWrite[], under: PlannedUnder, merged: boolean): Promise<void> {
    const [first] = group;
    if (!first) return;
    const attempt: GroupExecution = { ...this.#context, ...under, group, merged };
    let failed: GroupFailed;
    try {
      const { left, rest } = await this.#retrying(group, () => executeGroup(attempt));
      for (const write of left) await this.#executePart([write], under, false);
      return this.#execute(rest, under, merged);
    } catch (error) {
      if (!(error instanceof GroupFailed)) throw error;
      failed = error;
    }
    const { before, failing, after } = failed;
    if (isLockTimeout(failed.cause)) throw await this.#findObstacles(group, failing, failed.cause);
    const isStatementFault = isStatementLocal(failed.cause) && group.length > 1 && failing.length > 0;
    if (isUnavailable(failed.cause) && !isStatementFault) throw failed.cause;
    if (failed.cause instanceof ConditionFailed) {
      for (const write of failing) write.reject(failed.cause);
      await this.#execute([...before, ...after], under, merged);
      return;
    }
    await this.#checkSchemaVersion(failed.cause, under.changes);
    if (group.length === 1) return this.#executeSingle(first, under, failed.cause);
    if (failing.length === 0) {
      // The notification or the commit failed, not a single write.
      if (!isSchemaStale(failed.cause)) throw failed.cause;
      // The record locks failed: a table of one of the writes is missing.
      for (const write of group) await this.#executePart([write], under, false);
      return;
    }
    await this.#executePart(before, under, merged);
    await this.#executePart(failing, under, false);
    await this.#executeGrowing(after, under, merged, before.length);
  }

  /**
   * Executes the writes after one that failed, in parts of which each is twice as long as the one before: if many fail, each fails with few others,
   * not with all that follow.
   * @param size of the first part; at least 1
   */
  async #executeGrowing(writes: readonly QueuedWrite[], under: PlannedUnder, merged: boolean, size: number): Promise<void> {
    for (let start = 0, length = Math.max(1, size); start < writes.length; start += length, length *= 2)
      await this.#executePart(writes.slice(start, start + length), under, merged);
  }

  /** Executes part of a group. Its errors, such as an unknown outcome, do not affect the other writes. @throws SchemaVersionChanged, Obstructed */
  async #executePart(writes: readonly QueuedWrite[], under: PlannedUnder, merged: boolean): Promise<void> {
    try {
      await this.#execute(writes, under, merged);
    } catch (error) {
      if (error instanceof SchemaVersionChanged || error instanceof Obstructed) throw error;
      this.#reject(writes, error);
    }
  }

  /** Executes one failed write again by itself, step by step, to get its own error. @throws SchemaVersionChanged, Obstructed */
  async #executeSingle(write: QueuedWrite, { changes, lockLimit }: PlannedUnder, failure: unknown): Promise<void> {
    const { transactions, schemaName, recordWrites } = this.#context;
    const { plan, plannedUnder } = write;
    const [only, ...others] = plan.mutations;
    const isSimple = only !== undefined && others.length === 0;
    // Of a write with several records the failed step shows which one.
    const refusal = isSimple ? refusalOf(failure, only) : hasItems(plan.mutations) ? undefined : duplicateKeyOf(failure, plan);
    if (refusal instanceof ServiceError) {
      write.reject(errorOfItem(refusal, only?.item));
      return;
    }
    const tables = tablesOf([plan]);
    const watched = watchedAmong(tables);
    const work = () =>
      transactions.transact(
        async (session) => {
          await requireConditions(session, plan, this.#context);
          const outcome = await executePlan(session, plan, plannedUnder, this.#context);
          if (watched.length > 0)
            await session.query(commitInvalidation(this.#context, { schemaChanged: false, tables: watched }));
          await session.query(schemaVersionGuard(schemaName, changes));
          return outcome;
        },
        { lockLimit },
      );
    try {
      const outcome = await this.#retrying([write], work);
      recordWrites(tables);
      write.resolve(outcome);
    } catch (error) {
      if (isLockTimeout(error)) throw await this.#findObstacles([write], [write], error);
      await this.#checkSchemaVersion(error, changes);
      this.#reject([write], error);
    }
  }

  /** Reloads the schema if the error may come from an outdated one. @throws SchemaVersionChanged if it has changed */
  async #checkSchemaVersion(error: unknown, changes: number): Promise<void> {
    if (!isAssertionFailure(error) && !isSchemaStale(error) && !isUnknownIndex(error, this.schema())) return;
    await this.#context.reloadSchema();
    if (this.#context.schemaCache.changes !== changes) throw new SchemaVersionChanged();
  }

  /**
   * Repeats a transaction after conflicts, and once if the connection was lost before it was sent.
   * @throws unavailable if conflicts continue
   */
  async #retrying<T>(writes: readonly QueuedWrite[], transaction: () => Promise<T>): Promise<T> {
    const contention = new Contention();
    for (;;)
      try {
        return await transaction();
      } catch (error) {
        if (error instanceof CommitUnknown) this.#context.recordWrites(tablesOf(writes.map(({ plan }) => plan)), true);
        const cause = error instanceof GroupFailed ? error.cause : error;
        // Other writes may continue meanwhile.
        if (isLockTimeout(cause)) throw error;
        const isUnsent = isUnavailable(cause) && isConnectionError(cause);
        if (!(mayRetry(cause) || (isUnsent && contention.attempt === 1))) throw error;
        if (contention.isOver) throw unavailable(cause);
        await (isUnsent ? contention.next(0) : contention.next(RETRY_DELAY_STEP_MS, MAX_RETRY_DELAY_MS));
      }
  }
}
