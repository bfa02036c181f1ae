import { isUnavailable, serviceError } from '../../../errors/fail.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { StallAllowance } from '../../../kernel/stall-allowance.ts';
import type { Conditions } from '../../../observe/index.ts';
import type { Statement } from '../../sql/writer.ts';
import { BlockedReads } from './blocked-reads.ts';
import { Cancelling } from './cancelling.ts';
import { Connector, IDLE_LIMIT_MS, type TransactionLimits, WRITE_LOCK_LIMIT_MS } from './connect.ts';
import { readPages } from './cursor.ts';
import type { Database, Result, Row, Session, TransactionOptions } from './database.ts';
import { DeadConnections } from './dead-connections.ts';
import { ExclusivePool, type Lease, PROOF_LIMIT_MS, poolSizes } from './exclusive-pool.ts';
import { LockHolders } from './lock-holders.ts';
import {
  causeOf,
  isConnectionError,
  isForgotten,
  isLockTimeout,
  isOfStatement,
  isTimeout,
  mayReadAgain,
  ofRead,
  ofWrite,
  StatementFailed,
  unavailable,
} from './map-error.ts';
import { Outage } from './outage.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';
import { RecentTexts } from './prepared-statements.ts';
import { probeServer } from './probe-server.ts';
import { SharedPool, whenAnswering } from './shared-pool.ts';
import { bePatient, limitsOf, runAlone, runAtomically, runRead, runTransaction } from './transaction.ts';

/** Connections of a process where nothing else is said; one of them is for the listener. */
const CONNECTIONS = 12;
/** A read that was thought short and is not: it goes on among the long ones, since others stand behind it. */
const SHORT_LIMIT_MS = 1000;
/** The same where it waits for a change of the schema. */
const SHORT_LOCK_LIMIT_MS = 100;
/** Longest wait for a caller that does not ask for the next page, in milliseconds. */
const STALL_LIMIT_MS = 55_000;
/** Milliseconds between two times when all connections have to prove that they are alive. */
const SUSPECT_PAUSE_MS = 1000;
/** Longest wait for what is under way at the end, in milliseconds. */
const FAREWELL_MS = 5000;

/** What the connections are told. */
export interface PoolSettings {
  /** Milliseconds that a statement may take, and a caller may wait for a connection. */
  readonly timeLimit: number;
  readonly connections?: number;
  /** What the sessions are called, where they are to be told from all others; poolers mix sessions up, and are refused. */
  readonly name?: string | undefined;
  /** Told of faults that can pass. Nobody where it is left out. */
  readonly conditions?: Pick<Conditions, 'met' | 'over'> | undefined;
}

/**
 * Connects to PostgreSQL.
 * @throws OperatorError where it cannot be reached, or is not as it must be: one line that holds no secret
 */
export async function connectDatabase(url: string, settings: PoolSettings): Promise<Database> {
  const address = await probeServer(url, settings.name);
  if (address.pooled && settings.name !== undefined)
    throw new OperatorError('DATABASE_URL: this needs PostgreSQL itself, not a pooler before it.');
  return new Pool(new Connector(address, new RecentTexts()), settings);
}

class Pool implements Database {
  readonly outage: Outage;
  readonly #deadConnections: DeadConnections;
  #suspectedAt = Number.NEGATIVE_INFINITY;
  readonly #connector: Connector;
  readonly timeLimit: number;
  /** What transactions have to say where sessions keep nothing. */
  readonly #limits: TransactionLimits;
  /** The same of those that stand still between their statements. */
  readonly #slowLimits: TransactionLimits;
  readonly #shared: SharedPool;
  readonly #held = new BlockedReads();
  readonly #lockHolders = new LockHolders((statement) => this.short(statement));
  readonly #transactions: ExclusivePool;
  readonly #long: ExclusivePool;

  constructor(connector: Connector, { timeLimit, connections = CONNECTIONS, conditions }: PoolSettings) {
    const { pooled } = connector.address;
    const size = poolSizes(connections);
    const limits = { statement: timeLimit, lock: 0 };
    const shortLimits = { statement: Math.min(SHORT_LIMIT_MS, timeLimit), lock: SHORT_LOCK_LIMIT_MS };
    const group = { connector, limits, maxWaitMs: timeLimit };
    this.#connector = connector;
    this.timeLimit = timeLimit;
    this.#limits = pooled ? { statement: timeLimit } : {};
    this.#slowLimits = pooled ? { statement: timeLimit, idle: IDLE_LIMIT_MS } : {};
    this.#shared = new SharedPool(connector, size.short, pooled ? limits : shortLimits);
    const writeLimits = { ...limits, lock: WRITE_LOCK_LIMIT_MS };
    this.#transactions = new ExclusivePool({ ...group, limits: writeLimits, size: size.transactions, tooLong: 'unavailable' });
    this.#long = new ExclusivePool({ ...group, size: size.long, tooLong: 'timeout' });
    this.outage = new Outage({ conditions, works: (write, system) => this.#works(write, system) });
    this.#deadConnections = new DeadConnections({
      links: () => connector.links(),
      knowsProcesses: !pooled,
      ask: (statement) => this.#askAlive(statement),
      onLost: () => this.suspect(),
    });
  }

  async short(statement: Statement, system = '', mostBytes = Number.POSITIVE_INFINITY, until?: AbortSignal): Promise<Row[]> {
    // They leave a connection to other reads of their system.
    const onHold = () => this.long(statement, system, mostBytes, until, `${system} held`);
    if (this.#held.has(statement.text)) return onHold();
    for (let attempt = 0; ; attempt++) {
      try {
        // At once where there is one: what is under way on it is counted for who comes next.
        const link = this.#shared.leastBusy ?? (await this.#shared.connected());
        const { rows } = await link.query(statement, attempt === 0, { mostBytes });
        this.#held.remove(statement.text);
        return rows;
      } catch (error) {
        if (attempt === 0 && mayReadAgain(error)) continue;
        if (isLockTimeout(error)) {
          this.#held.add(statement.text);
          return onHold();
        }
        if (isTimeout(error)) return this.long(statement, system, mostBytes, until);
        throw this.#seen(ofRead(error), system);
      }
    }
  }

  probe(): Promise<void> {
    return whenAnswering(this, this.#shared);
  }

  /** @param turn whose turn it takes */
  async long(
    statement: Statement,
    system: string,
    mostBytes = Number.POSITIVE_INFINITY,
    until?: AbortSignal,
    turn = system,
  ): Promise<Row[]> {
    for (let attempt = 0; ; attempt++) {
      const { link, release } = await this.#lease(this.#long, turn);
      const cancelling = until && new Cancelling(until, () => this.#cancel(link));
      try {
        if (until?.aborted) throw serviceError('timeout');
        return (await runRead(link, statement, this.#limits, attempt === 0, { mostBytes })).rows;
      } catch (error) {
        if (attempt === 0 && mayReadAgain(error)) continue;
        throw this.#seen(ofRead(error), system);
      } finally {
        await cancelling?.over();
        release();
      }
    }
  }

  async *pages(statement: Statement, system: string, size: number): AsyncGenerator<Row[]> {
    const settings = {
      group: this.#long,
      timeLimit: this.timeLimit,
      limits: this.#slowLimits,
      pauses: new StallAllowance(STALL_LIMIT_MS),
      cancel: (link: PipelinedConnection) => this.#cancel(link),
      isAwaited: (link: PipelinedConnection) => this.#isAwaited(link),
    };
    for (let attempt = 0; ; attempt++) {
      const lease = await this.#lease(this.#long, system);
      let isBegun = false;
      try {
        for await (const page of readPages(lease, statement, size, settings)) {
          isBegun = true;
          yield page;
        }
        return;
      } catch (error) {
        if (attempt === 0 && !isBegun && isConnectionError(error)) continue;
        throw this.#seen(ofRead(error), system);
      }
    }
  }

  async atomically(statements: readonly Statement[], system?: string, lockLimit = 0): Promise<Result[]> {
    if (statements.length === 0) return [];
    const isUsual = lockLimit === WRITE_LOCK_LIMIT_MS && !this.#connector.address.pooled;
    const limits = isUsual ? this.#limits : { ...this.#limits, lock: lockLimit };
    for (let attempt = 0; ; attempt++) {
      const { link, release } = await this.#lease(this.#transactions, system ?? null);
      try {
        return await runAtomically(link, statements, limits, attempt === 0);
      } catch (error) {
        if (attempt === 0 && (isForgotten(error) || (isUnavailable(error) && isConnectionError(error)))) continue;
        const cause = causeOf(error);
        if (error instanceof StatementFailed && !(isUnavailable(cause) && !isOfStatement(cause))) throw error;
        throw this.#seen(cause, system);
      } finally {
        release();
      }
    }
  }

  async transact<T>(work: (session: Session) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { link, release } = await this.#lease(this.#transactions, options.system ?? null);
    try {
      bePatient(link, options.timeLimit ?? this.timeLimit);
      return await runTransaction(link, work, { ...this.#slowLimits, ...limitsOf(options) });
    } catch (error) {
      throw this.#seen(error, options.system);
    } finally {
      bePatient(link, this.timeLimit);
      if (!link.isIdle) link.destroy();
      release();
    }
  }

  async alone<T>(work: (session: Session) => Promise<T>, timeLimit = this.timeLimit, until?: AbortSignal): Promise<T> {
    const link = await this.#connector.dial({ statement: timeLimit, lock: 0 });
    const leave = () => link.destroy();
    until?.addEventListener('abort', leave);
    try {
      if (until?.aborted) throw unavailable();
      return await runAlone(link, work);
    } catch (error) {
      throw until?.aborted ? unavailable() : this.#seen(error, undefined);
    } finally {
      until?.removeEventListener('abort', leave);
      await link.end();
    }
  }

  suspect(): void {
    const now = performance.now();
    if (now - this.#suspectedAt < SUSPECT_PAUSE_MS) return;
    this.#suspectedAt = now;
    this.#shared.prove();
    this.#transactions.prove();
    this.#long.prove();
  }

  async close(): Promise<void> {
    this.#deadConnections.close();
    this.outage.close();
    this.#connector.close();
    await Promise.all([this.#shared.close(), this.#transactions.close(FAREWELL_MS), this.#long.close(FAREWELL_MS)]);
  }

  /** A connection of a group that is not known to be lost: nothing was sent on it, so another one does as well. */
  async #lease(group: ExclusivePool, system: string | null): Promise<Lease> {
    for (;;) {
      const lease = await group.lease(system).catch((error) => {
        throw this.#seen(error, system ?? undefined);
      });
      if (!lease.link.lost) return lease;
      lease.release();
    }
  }

  /** Notes an error as it leaves. Transactions that others were in the way of are tried again by their callers. */
  #seen(error: unknown, system: string | undefined): unknown {
    const left = ofWrite(error);
    if (!isOfStatement(left)) this.outage.met(left, system);
    return left;
  }

  async #works(write: readonly Statement[], system: string | undefined): Promise<void> {
    await this.#askAlive({ text: 'SELECT 1', params: [] });
    if (write.length > 0) await this.atomically(write, system);
  }

  /** Asks on a connection that has been heard a moment ago, or on a new one. */
  async #askAlive(statement: Statement): Promise<Row[]> {
    const since = performance.now() - PROOF_LIMIT_MS;
    const heard = this.#shared.heardSince(since);
    if (heard) {
      const answer = heard.query(statement, false);
      await Promise.race([answer.catch(() => {}), heard.prove(PROOF_LIMIT_MS)]);
      if (!heard.lost) return (await answer).rows;
    }
    const link = await this.#connector.dial(this.#shared.limits);
    try {
      return (await link.query(statement, false)).rows;
    } catch (error) {
      throw ofRead(error);
    } finally {
      this.#shared.adopt(link);
    }
  }

  /** Behind a pooler nobody knows which server process it is. */
  async #isAwaited({ processId }: PipelinedConnection): Promise<boolean> {
    if (this.#connector.address.pooled) return false;
    return this.#lockHolders.has(processId);
  }

  async #cancel(link: PipelinedConnection): Promise<void> {
    if (this.#connector.address.pooled) return;
    await this.short({ text: 'SELECT pg_cancel_backend($1)', params: [link.processId] });
  }
}
