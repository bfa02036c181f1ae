import type { Query } from '../../../query/model/selection.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { LargeTables } from '../../sql/reads/read-plan.ts';
import { compileCount, compileCountUpTo } from '../../sql/select.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from '../connection/database.ts';
import { isCountedInIndex } from './read-routing.ts';

/** Maximum records that a short read counts. */
const MAX_SHORT_COUNT = 1_000;

/** Counts records. Up to a thousand of an index are counted by a short read. */
export class Counts {
  readonly #dialect: Dialect;
  readonly #rows: (statement: Statement, short: boolean, until?: AbortSignal) => Promise<Row[]>;
  /** Texts of counts that recently exceeded the maximum. */
  readonly #large = new LargeTables();

  /** @param rows runs a statement, as a short or a long read */
  constructor(dialect: Dialect, rows: (statement: Statement, short: boolean, until?: AbortSignal) => Promise<Row[]>) {
    this.#dialect = dialect;
    this.#rows = rows;
  }

  /** Returns the number of a query's records, if it requests it. @param short whether the query is short (`isShort`) */
  async of(query: Query, short: boolean, until?: AbortSignal): Promise<{ count?: number }> {
    if (!query.count) return {};
    const few = short ? null : await this.#few(query, until);
    if (few !== null) return { count: few };
    const [row] = await this.#rows(compileCount(query, this.#dialect, false), short, until);
    return { count: row?.[0] as number };
  }

  /** @returns `null` if they are not counted in an index, or too many, or those of the same condition were a moment ago */
  async #few(query: Query, until?: AbortSignal): Promise<number | null> {
    if (!isCountedInIndex(query)) return null;
    const statement = compileCountUpTo(query, MAX_SHORT_COUNT, this.#dialect);
    if (this.#large.has(statement.text)) return null;
    const [row] = await this.#rows(statement, true, until);
    const count = row?.[0] as number;
    if (count <= MAX_SHORT_COUNT) return count;
    this.#large.note(statement.text);
    return null;
  }
}
