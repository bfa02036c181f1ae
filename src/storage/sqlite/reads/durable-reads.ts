import { serviceError } from '../../../errors/fail.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { Connection } from '../connection/connection.ts';
import type { ConnectionEvents } from '../connection/map-error.ts';
import { BoundedRows, type PlannedRows, type Row, type Rows } from '../connection/statements.ts';

/** Fixes the snapshot of a transaction that has begun. SQLite need not parse the schema for it, which takes milliseconds after each change. */
const ANY_READ = { text: 'PRAGMA application_id', params: [] } as const;

/**
 * The reads of the event loop. The connection that writes shows a group of writes while it is executed and flushed, before anybody may see it
 * (docs/adr/0038). Meanwhile reads use a second connection, whose read transaction keeps the snapshot before the group.
 */
export class DurableReads implements PlannedRows {
  readonly #writer: Connection;
  readonly #open: () => Connection;
  #snapshot: Connection | undefined;
  #isHeld = false;

  /** @param open opens the second connection, which the first group needs */
  constructor(writer: Connection, open: () => Connection) {
    this.#writer = writer;
    this.#open = open;
  }

  /** Whether a snapshot is kept. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /**
   * Keeps the present snapshot, unless one is kept already. Call before a transaction of the writing connection changes anything.
   * @throws unavailable
   */
  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    try {
      this.#snapshot ??= this.#open();
      this.#snapshot.execute('BEGIN');
      this.#snapshot.first(ANY_READ);
    } catch (error) {
      // It would show whatever is committed when it is read.
      this.#snapshot?.close();
      this.#snapshot = undefined;
      throw error;
    }
  }

  /** Shows what is committed now. Never throws. @param hasNext whether the next transaction is open already */
  advance(hasNext: boolean): void {
    this.release();
    try {
      if (hasNext) this.hold();
    } catch {
      // Reads report it until the transaction ends.
    }
  }

  /** Shows what the writing connection has committed. Never throws. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#snapshot?.rollback();
    if (this.#snapshot?.isBroken) this.drop();
  }

  /** Closes the second connection until the next group. */
  drop(): void {
    this.#isHeld = false;
    this.#snapshot?.close();
    this.#snapshot = undefined;
  }

  get #current(): Connection {
    if (!this.#isHeld) return this.#writer;
    if (!this.#snapshot) throw serviceError('unavailable');
    return this.#snapshot;
  }

  first(statement: Statement, maxValueBytes?: number): Row | undefined {
    return this.#current.first(statement, maxValueBytes);
  }

  all(statement: Statement, maxValueBytes?: number): Row[] {
    return this.#current.all(statement, maxValueBytes);
  }

  each(statement: Statement, maxValueBytes?: number): IterableIterator<Row> {
    return this.#current.each(statement, maxValueBytes);
  }

  /** See `Connection.shorterThan`. */
  shorterThan(bytes: number): Rows {
    return new BoundedRows(this, bytes);
  }

  /** See `Connection.constraintsTaken`. */
  constraintsTaken(text: string): number {
    return this.#writer.constraintsTaken(text);
  }
}

/** Opens the second connection. */
export function openSnapshot(path: string, events: Pick<ConnectionEvents, 'met'>): Connection {
  const connection = new Connection(path, 'read', {
    events: { met: (fault, error) => events.met(fault, error), mend: () => {} },
  });
  connection.disableLockWait();
  return connection;
}
