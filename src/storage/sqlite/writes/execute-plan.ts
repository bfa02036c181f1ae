import { applyStep, stepsOf } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import { type Condition, Overtaken, type WriteOutcome, type WritePlan } from '../../port.ts';
import { compileRequire } from '../../sql/mutation.ts';
import type { RowContext } from '../../sql/row-layout.ts';
import type { Connection } from '../connection/connection.ts';
import { saveStep } from '../schema/catalog.ts';
import { applyDdl } from '../schema/ddl.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { executeMutation } from './execute-mutation.ts';

/**
 * Carries a whole plan out inside the caller's transaction.
 * @returns the schema after it, and what to answer
 * @throws Overtaken where a condition does not hold; what the steps throw
 */
export function executePlan(
  connection: Connection,
  plan: WritePlan,
  schema: Schema,
  context: RowContext,
): { schema: Schema; outcome: WriteOutcome } {
  let current = schema;
  if (plan.conditions) for (const condition of plan.conditions) if (!holds(connection, condition)) throw new Overtaken();
  if (plan.changes.length > 0) {
    connection.forgetPlans();
    for (const step of stepsOf(plan.changes)) {
      const after = applyStep(current, step);
      applyDdl(connection, step, current, after);
      connection.ask((db) => saveStep(db, step, after));
      current = after;
    }
  }
  let returned = '';
  for (const mutation of plan.mutations) returned += executeMutation(connection, mutation, current, context);
  return { schema: current, outcome: { returned } };
}

/** One process has the store to itself, where writers take turns by themselves: nobody else writes under a key. */
function holds(connection: Connection, condition: Condition): boolean {
  return condition.kind === 'unchanged' || !connection.first(compileRequire(condition, sqliteDialect));
}
