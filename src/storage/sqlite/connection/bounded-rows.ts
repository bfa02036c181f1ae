import { NotShort } from '../../sql/reads/allowance.ts';
import type { Statement } from '../../sql/writer.ts';
import { SQLITE_TOOBIG } from './map-error.ts';
import type { LimitedRows, Row, Rows } from './rows.ts';

/** Reads that end where they meet a value, or sort a row, of more bytes than they may: their methods throw NotShort then. */
export class BoundedRows implements Rows {
  readonly #rows: LimitedRows;
  readonly #bytes: number;

  constructor(rows: LimitedRows, bytes: number) {
    this.#rows = rows;
    this.#bytes = bytes;
  }

  first(statement: Statement): Row | undefined {
    return bounded(() => this.#rows.first(statement, this.#bytes));
  }

  all(statement: Statement): Row[] {
    return bounded(() => this.#rows.all(statement, this.#bytes));
  }

  *each(statement: Statement): IterableIterator<Row> {
    const rows = this.#rows.each(statement, this.#bytes);
    try {
      for (;;) {
        const next = bounded(() => rows.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      rows.return?.();
    }
  }
}

function bounded<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw (error as { errcode?: number }).errcode === SQLITE_TOOBIG ? new NotShort() : error;
  }
}
