import { isUnavailable, serviceError } from '../../../errors/fail.ts';
import { StallAllowance } from '../../../kernel/stall-allowance.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { BlockedReads } from './blocked-reads.ts';
import { CancelOnAbort } from './cancel-on-abort.ts';
import { type Connector, IDLE_LIMIT_MS, type TransactionLimits, WRITE_LOCK_LIMIT_MS } from './connect.ts';
import { readPages } from './cursor.ts';
import type { Database, DedicatedOptions, PoolSettings, Result, Row, Session, TransactionOptions } from './database.ts';
import { DeadConnections } from './dead-connections.ts';
import { ExclusivePool, type Lease, PING_TIMEOUT_MS, poolSizes } from './exclusive-pool.ts';
import { loadOf, waitsTo } from './load.ts';
import { LockHolders } from './lock-holders.ts';
import {
  causeOf,
  isConnectionError,
  isLockTimeout,
  isStatementForgotten,
  isStatementLocal,
  isTimeout,
  mapReadError,
  mapWriteError,
  mayRetryRead,
  StatementFailed,
  unavailable,
} from './map-error.ts';
import { Outage } from './outage.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';
import { SharedPool, whenAnswering } from './shared-pool.ts';
import { SharedPools } from './shared-pools.ts';
import { limitsOf, runAtomically, runRead, runStatements, runTransaction, setAnswerTimeout } from './transaction.ts';

/** Default number of connections of a process; one of them is for the listener. */
const CONNECTIONS = 12;
/** Time limit of a short read, in milliseconds. A read that exceeds it is repeated as a long one, since others queue behind it. */
const SHORT_LIMIT_MS = 1000;
/** Lock timeout of a short read, in milliseconds, in case it waits for a schema change. */
const SHORT_LOCK_LIMIT_MS = 100;
/** Maximum pause of a caller that does not request the next page, in milliseconds. */
const STALL_LIMIT_MS = 55_000;
/** Minimum interval between two pings of all connections, in milliseconds. */
const SUSPECT_INTERVAL_MS = 1000;
/** Maximum wait for running work on close, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5000;

/** The connections of a process, in pools by the kind of work. */
export class Pool implements Database {
  readonly outage: Outage;
  readonly #deadConnections: DeadConnections;
  #suspectedAt = Number.NEGATIVE_INFINITY;
  readonly #connector: Connector;
  readonly timeLimit: number;
  readonly isCoordinator: boolean;
  /** Limits that each transaction sets; empty unless a pooler prevents session settings. */
  readonly #limits: TransactionLimits;
  /** The same for transactions that are idle between their statements. */
  readonly #slowLimits: TransactionLimits;
  readonly #shared: SharedPools;
  readonly #blockedReads = new BlockedReads();
  readonly #lockHolders = new LockHolders((statement) => this.short(statement));
  readonly #transactions: ExclusivePool;
  readonly #long: ExclusivePool;

  constructor(connector: Connector, { timeLimit, connections = CONNECTIONS, conditions, observations }: PoolSettings) {
    const { pooled } = connector.address;
    const size = poolSizes(connections);
    const limits = { statement: timeLimit, lock: 0 };
    const shortLimits = { statement: Math.min(SHORT_LIMIT_MS, timeLimit), lock: SHORT_LOCK_LIMIT_MS };
    const common = { connector, limits, maxWaitMs: timeLimit };
    this.#connector = connector;
    this.timeLimit = timeLimit;
    this.isCoordinator = connector.address.isCoordinator;
    this.#limits = pooled ? { statement: timeLimit } : {};
    this.#slowLimits = pooled ? { statement: timeLimit, idle: IDLE_LIMIT_MS } : {};
    this.#shared = new SharedPools(() => new SharedPool(connector, size.short, pooled ? limits : shortLimits));
    const writing = { ...common, limits: { ...limits, lock: WRITE_LOCK_LIMIT_MS }, size: size.transactions };
    this.#transactions = new ExclusivePool({ ...writing, timeoutError: 'unavailable' });
    this.#long = new ExclusivePool({ ...common, size: size.long, timeoutError: 'timeout', onLeased: waitsTo(observations) });
    this.outage = new Outage({
      isCoordinator: this.isCoordinator,
      conditions,
      check: (write, system) => this.#checkWorking(write, system),
      query: (statement) => this.dedicated(async (session) => (await session.query(statement)).rows),
    });
    this.#deadConnections = new DeadConnections({
      links: () => connector.links(),
      knowsProcesses: !pooled,
      query: (statement) => this.#queryAlive(statement),
      onSilent: (links) => this.outage.nodes.checkSilent(links),
      onLost: () => this.suspect(),
    });
  }

  async short(statement: Statement, system = '', maxBytes = Number.POSITIVE_INFINITY, until?: AbortSignal): Promise<Row[]> {
    // Blocked reads count as another system of their own, so that they leave a connection to the system's other reads.
    const readSeparately = () => this.long(statement, system, maxBytes, until, `${system} held`);
    if (this.#blockedReads.has(statement.text)) return readSeparately();
    for (let attempt = 0; ; attempt++) {
      this.outage.nodes.require(system);
      try {
        // Do not await if a connection exists: the next caller must see this statement in its count of pending ones.
        const node = this.outage.nodes.nodeOf(system);
        const shared = this.#shared.of(node);
        const link = shared.leastBusy ?? (await shared.connected());
        if (node !== undefined) link.system = system;
        const { rows } = await link.query(statement, attempt === 0, { maxBytes });
        this.#blockedReads.remove(statement.text);
        return rows;
      } catch (error) {
        if (attempt === 0 && mayRetryRead(error)) continue;
        if (isLockTimeout(error)) {
          this.#blockedReads.add(statement.text);
          return readSeparately();
        }
        if (isTimeout(error)) {
          this.outage.nodes.suspect(system);
          return this.long(statement, system, maxBytes, until);
        }
        throw this.#recordFault(mapReadError(error), system);
      }
    }
  }

  probe = (): Promise<void> => whenAnswering(this, this.#shared.common);
  load: Database['load'] = () => loadOf(this.#shared.load, this.#transactions.load, this.#long.load);

  /** @param turn key by which the connection is accounted; the system by default */
  async long(
    statement: Statement,
    system: string,
    maxBytes = Number.POSITIVE_INFINITY,
    until?: AbortSignal,
    turn = system,
  ): Promise<Row[]> {
    for (let attempt = 0; ; attempt++) {
      const { link, release } = await this.#lease(this.#long, turn, system);
      const cancellation = until && new CancelOnAbort(until, () => this.#cancel(link));
      try {
        if (until?.aborted) throw serviceError('timeout');
        return (await runRead(link, statement, this.#limits, attempt === 0, { maxBytes })).rows;
      } catch (error) {
        if (attempt === 0 && mayRetryRead(error)) continue;
        throw this.#recordFault(mapReadError(error), system);
      } finally {
        await cancellation?.finish();
        release();
      }
    }
  }

  async *pages(statement: Statement, system: string, size: number): AsyncGenerator<Row[]> {
    const settings = {
      pool: this.#long,
      timeLimit: this.timeLimit,
      limits: this.#slowLimits,
      allowance: new StallAllowance(STALL_LIMIT_MS),
      cancel: (link: PipelinedConnection) => this.#cancel(link),
      isBlocking: (link: PipelinedConnection) => this.#isBlocking(link),
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
        if (attempt === 0 && !isBegun && mayRetryRead(error)) continue;
        throw this.#recordFault(mapReadError(error), system);
      }
    }
  }

  async atomically(statements: readonly Statement[], system?: string, lockLimit = 0): Promise<Result[]> {
    if (statements.length === 0) return [];
    // A coordinator passes on to a node what the transaction sets, but not what the session has.
    const isDefaultLimit = lockLimit === WRITE_LOCK_LIMIT_MS && !this.#connector.address.pooled && !this.isCoordinator;
    const limits = isDefaultLimit ? this.#limits : { ...this.#limits, lock: lockLimit };
    for (let attempt = 0; ; attempt++) {
      const { link, release } = await this.#lease(this.#transactions, system ?? null);
      try {
        return await runAtomically(link, statements, limits, attempt === 0);
      } catch (error) {
        if (attempt === 0 && (isStatementForgotten(error) || (isUnavailable(error) && isConnectionError(error)))) continue;
        const cause = causeOf(error);
        if (error instanceof StatementFailed && !(isUnavailable(cause) && !isStatementLocal(cause))) throw error;
        throw this.#recordFault(cause, system);
      } finally {
        release();
      }
    }
  }

  async transact<T>(work: (session: Session) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { link, release } = await this.#lease(this.#transactions, options.system ?? null, options.system ?? options.location);
    try {
      setAnswerTimeout(link, options.timeLimit ?? this.timeLimit);
      return await runTransaction(link, work, { ...this.#slowLimits, ...limitsOf(options) });
    } catch (error) {
      throw this.#recordFault(error, options.system ?? options.location);
    } finally {
      setAnswerTimeout(link, this.timeLimit);
      if (!link.isIdle) link.destroy();
      release();
    }
  }

  async dedicated<T>(work: (session: Session) => Promise<T>, options: DedicatedOptions = {}): Promise<T> {
    const { timeLimit = this.timeLimit, location, until } = options;
    if (location !== undefined) this.outage.nodes.require(location);
    const link = await this.#connector.connect({ statement: timeLimit, lock: 0 });
    link.system = location;
    const leave = () => link.destroy();
    until?.addEventListener('abort', leave);
    try {
      if (until?.aborted) throw unavailable();
      return await runStatements(link, work);
    } catch (error) {
      throw until?.aborted ? unavailable() : this.#recordFault(error, location);
    } finally {
      until?.removeEventListener('abort', leave);
      await link.end();
    }
  }

  suspect(): void {
    const now = performance.now();
    if (now - this.#suspectedAt < SUSPECT_INTERVAL_MS) return;
    this.#suspectedAt = now;
    this.#shared.ping();
    this.#transactions.ping();
    this.#long.ping();
  }

  async close(): Promise<void> {
    this.#deadConnections.close();
    this.outage.close();
    this.#connector.close();
    await Promise.all([this.#shared.close(), this.#transactions.close(CLOSE_TIMEOUT_MS), this.#long.close(CLOSE_TIMEOUT_MS)]);
  }

  /**
   * Leases a connection that is not known to be lost: nothing was sent on it yet, so any other will do.
   * @param turn as in `long`
   * @throws unavailable, also if the node where the system lies is away
   */
  async #lease(pool: ExclusivePool, turn: string | null, system = turn ?? undefined): Promise<Lease> {
    for (;;) {
      if (system !== undefined) this.outage.nodes.require(system);
      const node = system === undefined ? undefined : this.outage.nodes.nodeOf(system);
      const lease = await pool.lease(turn, system, node).catch((error) => {
        throw this.#recordFault(error, system);
      });
      if (!lease.link.lost) return lease;
      lease.release();
    }
  }

  /** Maps an error for the caller and records passing faults. Errors of conflicts are not recorded: callers repeat such transactions. */
  #recordFault(error: unknown, system: string | undefined): unknown {
    const mapped = mapWriteError(error);
    if (!isStatementLocal(mapped)) this.outage.record(mapped, system);
    return mapped;
  }

  async #checkWorking(write: readonly Statement[], system: string | undefined): Promise<void> {
    await this.#queryAlive({ text: 'SELECT 1', params: [] });
    if (write.length > 0) await this.atomically(write, system);
  }

  /** Queries on a connection that has received data a moment ago, or on a new one. */
  async #queryAlive(statement: Statement): Promise<Row[]> {
    const since = performance.now() - PING_TIMEOUT_MS;
    const heard = this.#shared.common.receivedSince(since);
    if (heard) {
      const answer = heard.query(statement, false);
      await Promise.race([answer.catch(() => {}), heard.ping(PING_TIMEOUT_MS)]);
      if (!heard.lost) return (await answer).rows;
    }
    const link = await this.#connector.connect(this.#shared.common.limits);
    try {
      return (await link.query(statement, false)).rows;
    } catch (error) {
      throw mapReadError(error);
    } finally {
      this.#shared.common.adopt(link);
    }
  }

  /** Whether another session waits for a lock of this one. Unknown behind a pooler, which hides the server process. */
  async #isBlocking({ processId }: PipelinedConnection): Promise<boolean> {
    return !this.#connector.address.pooled && this.#lockHolders.has(processId);
  }

  async #cancel(link: PipelinedConnection): Promise<void> {
    if (this.#connector.address.pooled) return;
    await this.short({ text: 'SELECT pg_cancel_backend($1)', params: [link.processId] });
  }
}
