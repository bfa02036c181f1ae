import type { Conditions, Observations } from '../../../observe/index.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Outage } from './outage.ts';

/**
 * Values of a row, in the order of its columns, in the same form as on SQLite: numbers for double precision and integers, 1 and 0 for booleans,
 * null, and text for everything else (JSON as stored).
 */
export type Row = readonly unknown[];

/** Result of a statement. */
export interface Result {
  readonly rows: Row[];
  /** Number of rows changed or returned. */
  readonly affected: number;
}

/**
 * A connection for the duration of some work. Each statement is sent immediately, without waiting for earlier answers, so several statements take
 * one round trip if the caller does not await each. In a transaction, all statements after a failed one fail.
 */
export interface Session {
  query(statement: Statement): Promise<Result>;
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** Milliseconds that a statement may take; 0: unlimited. Default: the time limit of queries. */
  readonly timeLimit?: number;
  /** Milliseconds that the transaction may be idle between two statements; 0: unlimited. */
  readonly idleLimit?: number;
  /** Milliseconds that a statement may wait for a lock. Default: unlimited, within the time limit of the statement. */
  readonly lockLimit?: number;
  /**
   * System whose work it is: one system gets all connections for transactions except one. Default: the service itself, without that limit and with
   * priority.
   */
  readonly system?: string;
  /** PostgreSQL schema of the system on whose node it works, if it is the service's own work. */
  readonly location?: string;
}

/** Options of a connection for one piece of work. */
export interface DedicatedOptions extends Pick<TransactionOptions, 'timeLimit' | 'location'> {
  /** Closes the connection; the database continues the running statement, without reporting its end. */
  readonly until?: AbortSignal;
}

/** Settings of the pools. */
export interface PoolSettings {
  /** Milliseconds that a statement may take, and that a caller may wait for a connection. */
  readonly timeLimit: number;
  readonly connections?: number;
  /** `application_name` of the sessions, if they must be distinguishable from all others. A pooler mixes sessions and is then refused. */
  readonly name?: string | undefined;
  /** Receives passing faults. If absent, they are not reported. */
  readonly conditions?: Pick<Conditions, 'met' | 'over'> | undefined;
  /** Receives waits of reads. */
  readonly observations?: Observations | undefined;
}

/** What the connections of a process do. */
export interface DatabaseLoad {
  /** Running reads on shared connections, and on exclusive ones. */
  readonly shared: number;
  readonly exclusive: number;
  /** Connections that are in use, and that are not. */
  readonly busy: number;
  readonly idle: number;
}

/**
 * The connections of a process to PostgreSQL, shared by all its systems. Errors of the database are passed on (map-error.ts interprets them),
 * except that passing faults become `unavailable` or `outcomeUnknown`, and a read that exceeds its time limit becomes `timeout`.
 */
export interface Database {
  /** Default time limit of a statement, in milliseconds. */
  readonly timeLimit: number;
  /** Whether the server is the coordinator of a cluster, which cannot plan every statement (docs/adr/0027-citus.md). */
  readonly isCoordinator: boolean;
  /** State of passing faults. */
  readonly outage: Outage;
  /**
   * Runs a read that is expected to be short, such as one row by id, on a connection shared with other callers. One round trip. A read that proves
   * slow or waits for a lock is repeated as a long one.
   * @param system system that the read counts for if it becomes long
   * @param maxBytes fails with TooLong if the rows are larger
   * @param until as in `long`, if it becomes one
   */
  short(statement: Statement, system?: string, maxBytes?: number, until?: AbortSignal): Promise<Row[]>;
  /**
   * Runs a read that may be long, on a connection for its exclusive use. One round trip. One system gets all such connections except one, so that
   * it cannot delay another.
   * @param system whose read it is
   * @param maxBytes fails with TooLong if the rows are larger
   * @param until aborts it with `timeout`, in the database too
   */
  long(statement: Statement, system: string, maxBytes?: number, until?: AbortSignal): Promise<Row[]>;
  /**
   * Runs a long read whose rows are fetched page by page (a cursor) on demand. The generator must be returned if it is not read to the end.
   * @param size rows of a page; fewer if they are large
   */
  pages(statement: Statement, system: string, size: number): AsyncGenerator<Row[]>;
  /**
   * Runs a transaction of statements that do not depend on each other's results, in one round trip.
   * @param system as in `transact`
   * @param lockLimit as in `transact`
   * @throws StatementFailed, with the failed statement and its error; unavailable for passing faults that no single statement causes. Nothing has
   * taken effect
   * @throws CommitUnknown (`outcomeUnknown`) if the connection was lost after it was sent
   */
  atomically(statements: readonly Statement[], system?: string, lockLimit?: number): Promise<Result[]>;
  /** Runs an interactive transaction. Committed when `work` resolves, rolled back when it throws. */
  transact<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs statements outside any transaction, on a connection opened for them in addition to those of the pools. Behind a pooler the database user's
   * own limits apply.
   */
  dedicated<T>(work: (session: Session) => Promise<T>, options?: DedicatedOptions): Promise<T>;
  /** Resolves if the database answers, and quickly even if many statements are queued before the probe. @throws unavailable, timeout */
  probe(): Promise<void>;
  /** Reports that connections may be dead: all are pinged before they are used again. */
  suspect(): void;
  /** What the connections of the process do now. */
  load(): DatabaseLoad;
  close(): Promise<void>;
}
