import { applyChange } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import type { WriteOutcome, WritePlan } from '../../port.ts';
import type { RowContext } from '../../sql/shape.ts';
import type { Connection } from '../connection.ts';
import { saveChange } from '../schema/catalog.ts';
import { applyDdl } from '../schema/ddl.ts';
import { carryOut } from './mutation.ts';

/**
 * Carries a whole plan out inside the caller's transaction.
 * @returns the schema after it, and what to answer
 */
export function carryOutPlan(
  connection: Connection,
  plan: WritePlan,
  schema: Schema,
  context: RowContext,
): { schema: Schema; outcome: WriteOutcome } {
  let current = schema;
  if (plan.changes.length > 0) connection.forgetPlans();
  for (const change of plan.changes) {
    const after = applyChange(current, change);
    applyDdl(connection.db, change, current, after);
    saveChange(connection.db, change, after);
    current = after;
  }
  let returned = '';
  for (const mutation of plan.mutations) returned += carryOut(connection, mutation, current, context);
  return { schema: current, outcome: { returned } };
}
