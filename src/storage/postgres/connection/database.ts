import type { Statement } from '../../sql/writer.ts';
import type { Outage } from './outage.ts';

/**
 * Values of a row, in the order of its columns, in the form that the embedded engine has them, too: numbers for double precision and
 * whole numbers, 1 and 0 for booleans, null, and text as the database shows it for all else (JSON as it is stored).
 */
export type Row = readonly unknown[];

/** What came of a statement. */
export interface Result {
  readonly rows: Row[];
  /** Rows that it changed, or returned. */
  readonly affected: number;
}

/**
 * A connection for the time of some work. A statement is sent as soon as it is asked for, whether or not those before it are answered:
 * many of them, not waited for one by one, take one round trip. In a transaction all fail that come after one that failed.
 */
export interface Session {
  query(statement: Statement): Promise<Result>;
}

/** How a transaction is carried out. */
export interface TransactionOptions {
  /** Milliseconds that a statement may take; 0: any time. The time limit of queries where it is left out. */
  readonly timeLimit?: number;
  /** Milliseconds that the transaction may stand still between two statements; 0: any time. */
  readonly idleLimit?: number;
  /** Milliseconds that a statement may wait for a lock. Any time where it is left out, as long as the statement itself may take. */
  readonly lockLimit?: number;
  /** Whose it is: one system gets all such connections but one at the most. Where it is left out, it is the service's own, and comes first. */
  readonly system?: string;
}

/**
 * The connections of a process to PostgreSQL, which all its systems share. Errors of the database come as they are (map-error.ts reads
 * them), except: faults that can pass are `unavailable` (map-error.ts), or `outcomeUnknown`; the end of a read's time limit is `timeout`.
 */
export interface Database {
  /** Milliseconds that a statement may take where nothing else is said. */
  readonly timeLimit: number;
  /** What is known of faults that can pass. */
  readonly outage: Outage;
  /**
   * A read that is short for certain: one row by its id. Many are under way on one connection. One round trip. Where it takes its time
   * after all, or waits for a lock, it is done as a long one.
   * @param system whose it is then
   * @param mostBytes NotShort where the rows are more
   * @param until as of `long`, where it becomes one
   */
  short(statement: Statement, system?: string, mostBytes?: number, until?: AbortSignal): Promise<Row[]>;
  /**
   * A read that may be long, on a connection of its own until it ends. One round trip. One system gets all such connections but one at
   * the most, so that it cannot delay another.
   * @param system whose it is
   * @param mostBytes NotShort where the rows are more
   * @param until ends it with `timeout`, in the database too
   */
  long(statement: Statement, system: string, mostBytes?: number, until?: AbortSignal): Promise<Row[]>;
  /**
   * A long read whose rows are fetched page by page (a cursor), as they are asked for. It must be returned where it is not read to its end.
   * @param size rows of a page; it has fewer where they are large
   */
  pages(statement: Statement, system: string, size: number): AsyncGenerator<Row[]>;
  /**
   * One transaction of statements that do not depend on each other's results, in one round trip.
   * @param system whose it is, as with `transact`
   * @param lockLimit as with `transact`
   * @throws StatementFailed, which says which of them failed and why; unavailable for what none of them is to blame for. Nothing has taken
   *   effect
   * @throws CommitUnknown where the connection was lost after it was sent (`outcomeUnknown`)
   */
  atomically(statements: readonly Statement[], system?: string, lockLimit?: number): Promise<Result[]>;
  /** A transaction that decides on the way. Committed when `work` resolves, rolled back when it throws. */
  transact<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Statements by themselves, not in a transaction, on a connection that is made for them, beside those that a process may have else.
   * @param timeLimit milliseconds that a statement may take; 0: any time. Behind a pooler what the user is bound by, if by anything
   * @param until ends the connection: the database goes on with the statement that is under way, and nobody hears of its end
   */
  alone<T>(work: (session: Session) => Promise<T>, timeLimit?: number, until?: AbortSignal): Promise<T>;
  /** Resolves where the database answers, soon also where a long line stands before the question. @throws unavailable, timeout */
  probe(): Promise<void>;
  /** A line may be dead: all connections prove that they are alive before they are used again. */
  suspect(): void;
  close(): Promise<void>;
}
