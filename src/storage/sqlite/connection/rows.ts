import type { Row } from '../../sql/reads/allowance.ts';
import type { Statement } from '../../sql/writer.ts';

export type { Row };

/** What reads the rows of statements. */
export interface Rows {
  /** The first row. */
  first(statement: Statement): Row | undefined;
  /** All rows. */
  all(statement: Statement): Row[];
  /**
   * Rows one by one, from a statement of their own: other work may come in between.
   * @param longest bytes that a value may have, where it is less than usual
   */
  each(statement: Statement, longest?: number): IterableIterator<Row>;
}

/** The same where every read may have a bound of its own. */
export interface LimitedRows extends Rows {
  /** @param longest bytes that a value may have, also of those that SQLite sorts */
  first(statement: Statement, longest?: number): Row | undefined;
  /** @param longest as of `first` */
  all(statement: Statement, longest?: number): Row[];
}
