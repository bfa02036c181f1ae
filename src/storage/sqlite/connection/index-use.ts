import type { DatabaseSync } from 'node:sqlite';

/** How many comparisons an index answers for a statement that goes through one table in order and sorts nothing; -1 for any other. */
export function constraintsTaken(db: DatabaseSync, text: string): number {
  return constraintsIn(db.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
}

/** Reads SQLite's plan: `SCAN t`, `SEARCH t USING INDEX i (a=? AND b>?)`; a sub-query that only counts rows is a step around it. */
function constraintsIn(plan: readonly Record<string, unknown>[]): number {
  const steps = plan.map((step) => String(step.detail)).filter((detail) => !/^(CO-ROUTINE|SCAN \(subquery)/.test(detail));
  const [step] = steps;
  if (step === undefined || steps.length > 1) return -1;
  return step.startsWith('SCAN') ? 0 : (step.match(/(?:=|[<>])\?/g)?.length ?? 0);
}
