import { isUnavailable } from '../../../errors/fail.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { Pauses } from '../../pauses.ts';
import type { Statement } from '../../sql/writer.ts';
import { readPages } from './cursor.ts';
import type { Database, Result, Row, Session, TransactionOptions } from './database.ts';
import { Dialer, IDLE_LIMIT, type TransactionLimits } from './dial.ts';
import { isConnectionError, isForgotten, isLockTimeout, isTimeout, translated } from './errors.ts';
import { Group, type Lease } from './group.ts';
import type { Link } from './link.ts';
import { explore } from './opening.ts';
import { Texts } from './prepared.ts';
import { SharedLinks } from './shared.ts';
import { bePatient, limitsOf, runAlone, runAtomically, runRead, runTransaction } from './transaction.ts';

/** Connections of a process where nothing else is said; one of them is for the listener. */
const CONNECTIONS = 12;
/** A read that was thought short and is not: it goes on among the long ones, since others stand behind it. */
const SHORT_LIMIT = 1000;
/** The same where it waits for a change of the schema. */
const SHORT_LOCK_LIMIT = 100;
/** Longest wait for a caller who does not ask for the next page, in milliseconds. */
const STALL_LIMIT = 55_000;
/** Longest wait for what is under way at the end, in milliseconds. */
const FAREWELL = 5000;

/** What the connections are told. */
export interface PoolSettings {
  /** Milliseconds that a statement may take, and a caller may wait for a connection. */
  readonly timeLimit: number;
  readonly connections?: number;
  /** What the sessions are called, where they are to be told from all others; poolers mix sessions up, and are refused. */
  readonly name?: string | undefined;
  /** Told of faults that no client sees. */
  readonly report: (fault: string) => void;
}

/**
 * Connects to PostgreSQL.
 * @throws OperatorError where it cannot be reached, or is not as it must be: one line that holds no secret
 */
export async function connectDatabase(url: string, settings: PoolSettings): Promise<Database> {
  const address = await explore(url, settings.name);
  if (address.pooled && settings.name !== undefined)
    throw new OperatorError('DATABASE_URL: this needs PostgreSQL itself, not a pooler before it.');
  return new Pool(new Dialer(address, new Texts(), settings.report), settings);
}

/** How many connections each group gets. */
function sizes(connections: number): { short: number; transactions: number; long: number } {
  const left = Math.max(3, connections - 1);
  const short = left < 8 ? 1 : 2;
  // Making a system takes one for the registry's transaction, and another for what is made meanwhile.
  const transactions = Math.max(2, Math.floor(((left - short) * 4) / 9));
  return { short, transactions, long: left - short - transactions };
}

class Pool implements Database {
  readonly #dialer: Dialer;
  readonly #timeLimit: number;
  /** What transactions have to say where sessions keep nothing. */
  readonly #limits: TransactionLimits;
  /** The same of those that stand still between their statements. */
  readonly #slowLimits: TransactionLimits;
  readonly #shared: SharedLinks;
  readonly #transactions: Group;
  readonly #long: Group;

  constructor(dialer: Dialer, { timeLimit, connections = CONNECTIONS }: PoolSettings) {
    const { pooled } = dialer.address;
    const size = sizes(connections);
    const limits = { statement: timeLimit, lock: 0 };
    const shortLimits = { statement: Math.min(SHORT_LIMIT, timeLimit), lock: SHORT_LOCK_LIMIT };
    const group = { dialer, limits, longestWait: timeLimit };
    this.#dialer = dialer;
    this.#timeLimit = timeLimit;
    this.#limits = pooled ? { statement: timeLimit } : {};
    this.#slowLimits = pooled ? { statement: timeLimit, idle: IDLE_LIMIT } : {};
    this.#shared = new SharedLinks(dialer, size.short, pooled ? limits : shortLimits);
    this.#transactions = new Group({ ...group, size: size.transactions });
    this.#long = new Group({ ...group, size: size.long });
  }

  async short(statement: Statement, system?: string, mostBytes = Number.POSITIVE_INFINITY): Promise<Row[]> {
    for (let attempt = 0; ; attempt++) {
      const got = this.#shared.get();
      const link = got instanceof Promise ? await got : got;
      try {
        return (await link.query(statement, attempt === 0, { mostBytes })).rows;
      } catch (error) {
        if (attempt === 0 && (isConnectionError(error) || isForgotten(error))) continue;
        if (isTimeout(error) || isLockTimeout(error)) return this.long(statement, system ?? '', mostBytes);
        throw translated(error);
      }
    }
  }

  async long(statement: Statement, system: string, mostBytes = Number.POSITIVE_INFINITY): Promise<Row[]> {
    for (let attempt = 0; ; attempt++) {
      const { link, release } = await this.#lease(this.#long, system);
      try {
        return (await runRead(link, statement, this.#limits, attempt === 0, { mostBytes })).rows;
      } catch (error) {
        if (attempt === 0 && (isConnectionError(error) || isForgotten(error))) continue;
        throw translated(error);
      } finally {
        release();
      }
    }
  }

  async *pages(statement: Statement, system: string, size: number): AsyncGenerator<Row[]> {
    const lease = await this.#lease(this.#long, system);
    const settings = {
      group: this.#long,
      timeLimit: this.#timeLimit,
      limits: this.#slowLimits,
      pauses: new Pauses(STALL_LIMIT),
      cancel: (link: Link) => this.#cancel(link),
      isAwaited: (link: Link) => this.#isAwaited(link),
    };
    try {
      yield* readPages(lease, statement, size, settings);
    } catch (error) {
      throw translated(error);
    }
  }

  async atomically(statements: readonly Statement[], system?: string): Promise<Result[]> {
    if (statements.length === 0) return [];
    for (let attempt = 0; ; attempt++) {
      const { link, release } = await this.#lease(this.#transactions, system ?? null);
      try {
        return await runAtomically(link, statements, this.#limits, attempt === 0);
      } catch (error) {
        if (attempt === 0 && (isForgotten(error) || isUnavailable(error))) continue;
        throw error;
      } finally {
        release();
      }
    }
  }

  async transact<T>(work: (session: Session) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { link, release } = await this.#lease(this.#transactions, options.system ?? null);
    try {
      bePatient(link, options.timeLimit ?? this.#timeLimit);
      return await runTransaction(link, work, { ...this.#slowLimits, ...limitsOf(options) });
    } finally {
      bePatient(link, this.#timeLimit);
      if (!link.isIdle) link.destroy();
      release();
    }
  }

  async alone<T>(work: (session: Session) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { link, release } = await this.#lease(this.#transactions, null);
    try {
      bePatient(link, options.timeLimit ?? this.#timeLimit);
      return await runAlone(link, work, this.#dialer.address.pooled ? {} : limitsOf(options));
    } finally {
      bePatient(link, this.#timeLimit);
      if (!link.isIdle) link.destroy();
      release();
    }
  }

  async close(): Promise<void> {
    this.#dialer.close();
    await Promise.all([this.#shared.close(), this.#transactions.close(FAREWELL), this.#long.close(FAREWELL)]);
  }

  /** A connection of a group that is not known to be lost: nothing was sent on it, so another one does as well. */
  async #lease(group: Group, system: string | null): Promise<Lease> {
    for (;;) {
      const lease = await group.lease(system);
      if (!lease.link.lost) return lease;
      lease.release();
    }
  }

  /** Behind a pooler nobody knows which server process it is. */
  async #isAwaited({ processId }: Link): Promise<boolean> {
    if (this.#dialer.address.pooled) return false;
    const text = 'SELECT 1 FROM pg_locks WHERE NOT granted AND $1 = ANY(pg_blocking_pids(pid)) LIMIT 1';
    return (await this.short({ text, params: [processId] })).length > 0;
  }

  async #cancel(link: Link): Promise<void> {
    if (this.#dialer.address.pooled) return;
    await this.short({ text: 'SELECT pg_cancel_backend($1)', params: [link.processId] });
  }
}
