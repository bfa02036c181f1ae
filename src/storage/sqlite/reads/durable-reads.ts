import type { Statement } from '../../sql/sql-writer.ts';
import { Connection, type ConnectionEvents } from '../connection/connection.ts';
import { BoundedRows, type PlannedRows, type Row, type Rows } from '../connection/statements.ts';

/** Fixes the snapshot of a transaction that has begun. */
const ANY_READ = { text: 'SELECT changes FROM rds_catalog', params: [] } as const;

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

  /** Keeps the present snapshot. Call before a transaction of the writing connection changes anything. @throws unavailable */
  hold(): void {
    this.release();
    this.#snapshot ??= this.#open();
    this.#isHeld = true;
    this.#snapshot.execute('BEGIN');
    this.#snapshot.first(ANY_READ);
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
    return this.#isHeld && this.#snapshot ? this.#snapshot : this.#writer;
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
