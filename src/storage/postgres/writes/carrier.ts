import { setTimeout as wait } from 'node:timers/promises';
import { isUnavailable, ServiceError } from '../../../errors/fail.ts';
import type { Schema } from '../../../schema/model.ts';
import { Overtaken } from '../../port.ts';
import { CommitUnknown, isConnectionError, isOfStatement, isStale, mayRetry, unavailable } from '../connection/errors.ts';
import { storeNotice } from '../notices.ts';
import { carryOutAlone } from './alone.ts';
import { type Attempt, attemptGroup } from './attempt.ts';
import { isDivisionByZero, schemaCheck } from './check.ts';
import { requireConditions } from './conditions.ts';
import { GroupFailed, refusalOf } from './failure.ts';
import { tablesOf, watchedAmong } from './group.ts';
import { growSchema } from './growth.ts';
import type { KnownSchema } from './known.ts';
import type { Carrier, QueuedWrite } from './queue.ts';
import type { StepContext } from './step.ts';
import type { Transactions } from './transactions.ts';

/** How often a transaction is run that others were in the way of, and how long it waits in between at the most, in milliseconds. */
const MOST_ATTEMPTS = 10;
const PAUSE = 15;
/** How often a write is planned anew since the schema has changed again. */
const MOST_STALE = 20;

/** What writes of a system are carried out with. */
export interface CarrierContext extends StepContext {
  readonly transactions: Transactions;
  readonly schemaName: string;
  readonly known: KnownSchema;
  /** Reads the schema anew. */
  reload(): Promise<void>;
  /** These tables have been written to, or may have been. */
  written(tables: ReadonlySet<string>): void;
  /** The error that a write is rejected with, as its caller gets it. */
  rejection(error: unknown): unknown;
}

/** The schema has changed since the writes were planned. */
class SchemaMoved extends Error {}

/** Carries groups of writes out, each in one round trip where all goes well; where it does not, each write fails alone. */
export class WriteCarrier implements Carrier {
  readonly #context: CarrierContext;

  constructor(context: CarrierContext) {
    this.#context = context;
  }

  schema(): Schema {
    return this.#context.known.schema;
  }

  carryOut(group: readonly QueuedWrite[]): Promise<readonly QueuedWrite[]> {
    const { changes } = this.#context.known;
    return this.#settled(group, () => this.#carryOut(group, changes, true));
  }

  change(write: QueuedWrite): Promise<readonly QueuedWrite[]> {
    return this.#settled([write], () => growSchema(this.#context, write));
  }

  /** @returns the writes that the work has not settled */
  async #settled(writes: readonly QueuedWrite[], work: () => Promise<void>): Promise<QueuedWrite[]> {
    const open = () => writes.filter(({ isSettled }) => !isSettled);
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SchemaMoved)) this.#reject(open(), error);
    }
    for (const write of open()) {
      write.stale++;
      if (write.stale > MOST_STALE) this.#reject([write], unavailable());
    }
    return open();
  }

  #reject(writes: readonly QueuedWrite[], error: unknown): void {
    for (const write of writes) if (!write.isSettled) write.reject(this.#context.rejection(error));
  }

  /** @param changes the schema's count of changes when the writes were planned */
  async #carryOut(group: readonly QueuedWrite[], changes: number, merged: boolean): Promise<void> {
    const [first] = group;
    if (!first) return;
    const attempt: Attempt = { ...this.#context, group, changes, merged };
    let failed: GroupFailed;
    try {
      const rest = await this.#tried(group, () => attemptGroup(attempt));
      return this.#carryOut(rest, changes, merged);
    } catch (error) {
      if (!(error instanceof GroupFailed)) throw error;
      failed = error;
    }
    const { before, failing, after } = failed;
    const isOfFew = isOfStatement(failed.cause) && group.length > 1 && failing.length > 0;
    if (isUnavailable(failed.cause) && !isOfFew) throw failed.cause;
    if (failed.cause instanceof Overtaken) {
      for (const write of failing) write.reject(failed.cause);
      await this.#carryOut([...before, ...after], changes, merged);
      return;
    }
    await this.#unlessMoved(failed.cause, changes);
    if (group.length === 1) return this.#alone(first, changes, failed.cause);
    // The notice or the commit: nobody's own failure.
    if (failing.length === 0) throw failed.cause;
    await this.#part(before, changes, merged);
    await this.#part(failing, changes, false);
    await this.#part(after, changes, merged);
  }

  /** Writes of a group by themselves: what becomes of them, in doubt say, is nothing to the others. @throws SchemaMoved */
  async #part(writes: readonly QueuedWrite[], changes: number, merged: boolean): Promise<void> {
    try {
      await this.#carryOut(writes, changes, merged);
    } catch (error) {
      if (error instanceof SchemaMoved) throw error;
      this.#reject(writes, error);
    }
  }

  /** One write that failed, once more by itself and step by step, so that its own error comes out. @throws SchemaMoved */
  async #alone(write: QueuedWrite, changes: number, failure: unknown): Promise<void> {
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
      transactions.transact(async (session) => {
        await requireConditions(session, plan, this.#context);
        const text = await carryOutAlone(session, plan, plannedUnder, this.#context);
        if (watched.length > 0) await session.query(storeNotice(schemaName, { schemaChanged: false, tables: watched }));
        await session.query(schemaCheck(schemaName, changes));
        return text;
      });
    try {
      const returned = await this.#tried([write], work);
      written(tables);
      write.resolve({ returned });
    } catch (error) {
      await this.#unlessMoved(error, changes);
      this.#reject([write], error);
    }
  }

  /** @throws SchemaMoved where the error may come of another schema than was known, which is known by then */
  async #unlessMoved(error: unknown, changes: number): Promise<void> {
    if (!isDivisionByZero(error) && !isStale(error)) return;
    await this.#context.reload();
    if (this.#context.known.changes !== changes) throw new SchemaMoved();
  }

  /**
   * Runs a transaction again where others were in its way, or where the connection was lost before it was sent.
   * @throws unavailable where they still are
   */
  async #tried<T>(writes: readonly QueuedWrite[], transaction: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++)
      try {
        return await transaction();
      } catch (error) {
        if (error instanceof CommitUnknown) this.#context.written(tablesOf(writes.map(({ plan }) => plan)));
        const cause = error instanceof GroupFailed ? error.cause : error;
        const isUnsent = isUnavailable(cause) && isConnectionError(cause);
        if (!(mayRetry(cause) || (isUnsent && attempt === 1))) throw error;
        if (attempt === MOST_ATTEMPTS) throw unavailable(cause);
        if (!isUnsent) await wait(Math.random() * PAUSE * attempt);
      }
  }
}
