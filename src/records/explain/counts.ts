import { allOf } from '../../query/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { Query } from '../../query/model/selection.ts';
import type { Reader } from '../../storage/port.ts';
import type { PlanStep, QueryPlan } from '../../storage/query-plan.ts';
import { comparedField, conjuncts } from './candidates.ts';

/** Records that are counted for an explanation at most. */
export const MAX_COUNTED = 1_000_000;

/** Numbers of records of a query's table. */
export interface Counts {
  /** All. */
  readonly records: number;
  /** Left out if several indexes lead to the records, or none of the table's own steps does. */
  readonly rowsRead?: number;
}

/** Counts what a plan reads. */
export async function countsOf(reader: Reader, query: Query, plan: QueryPlan): Promise<Counts> {
  const records = await countUpTo(reader, query, []);
  const step = mainStepOf(plan);
  if (step?.kind === 'scan') return { records, rowsRead: records };
  if (!step) return { records };
  const answered = conjuncts(query.filter).filter((condition) => step.fields?.includes(comparedField(condition)?.name ?? ''));
  return answered.length === 0 ? { records } : { records, rowsRead: await countUpTo(reader, query, answered) };
}

/** Counts the records of a table that meet conditions. */
export async function countUpTo(reader: Reader, { table }: Query, conditions: readonly Filter[]): Promise<number> {
  const whole = { table, fields: [], includes: [], order: [], skip: 0, limit: 0, count: true, withScore: false };
  return Math.min(MAX_COUNTED, await reader.countUpTo({ ...whole, filter: allOf(conditions) }, MAX_COUNTED));
}

/** Returns the step that reads the table of the query; `undefined` if there are none or several. */
export function mainStepOf({ steps }: QueryPlan): PlanStep | undefined {
  const [step, ...others] = steps.filter(({ isMain }) => isMain);
  return others.length === 0 ? step : undefined;
}
