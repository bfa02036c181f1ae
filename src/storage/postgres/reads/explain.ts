import type { Aggregation } from '../../../query/aggregate/model.ts';
import type { Query } from '../../../query/model/selection.ts';
import type { Reader } from '../../port.ts';
import { compileCountUpTo } from '../../sql/select.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from '../connection/database.ts';
import { planOf } from './query-plan.ts';
import type { ReaderSettings } from './reader.ts';

/** What explanations need of a reader. */
interface Explained {
  /** Returns the statement that runs a read. */
  statementOf(read: Query | Aggregation): Statement;
  /** Runs a statement as a long read: planning one with many conditions takes time. */
  rows(statement: Statement): Promise<Row[]>;
  mapError(error: unknown, plannedUnder: number): Promise<unknown>;
}

/** Returns the explanations of a system's reads. Nothing but the plan is computed: `EXPLAIN` without `ANALYZE`. */
export function explainer(
  { dialect, schemaCache }: Pick<ReaderSettings, 'dialect' | 'schemaCache'>,
  { statementOf, rows, mapError }: Explained,
): Pick<Reader, 'explain' | 'countUpTo'> {
  const mapped = async <T>(work: () => Promise<T>): Promise<T> => {
    const plannedUnder = schemaCache.changes;
    try {
      return await work();
    } catch (error) {
      throw await mapError(error, plannedUnder);
    }
  };
  return {
    explain: (read) =>
      mapped(async () => {
        const { text, params } = statementOf(read);
        const [row] = await rows({ text: `EXPLAIN (FORMAT JSON) ${text}`, params });
        return planOf(String(row?.[0]), schemaCache.schema);
      }),
    countUpTo: (query, atMost) =>
      mapped(async () => {
        const [row] = await rows(compileCountUpTo(query, atMost, dialect));
        return row?.[0] as number;
      }),
  };
}
