import { errorOfItem } from '../../../errors/fail.ts';
import type { Schema } from '../../../schema/model.ts';
import { hasEdits, isEdited } from '../../column-values.ts';
import { joinOutcomes, type Mutation, noOutcome, type WriteOutcome, type WritePlan } from '../../port.ts';
import type { Result, Session } from '../connection/database.ts';
import { type CompileContext, compileLocks, compileMutation } from './compile-mutation.ts';
import { EditedRecords, resolvePlan } from './json-updates.ts';
import { refusalOf } from './map-error.ts';

/**
 * Executes the steps of one write inside the caller's transaction, and throws the error of the step that failed.
 * @throws objectNotFound, duplicateValue, pointedAt and others; the caller's transaction must then end
 */
export async function executePlan(
  session: Session,
  plan: WritePlan,
  schema: Schema,
  context: CompileContext,
): Promise<WriteOutcome> {
  const pending: Promise<WriteOutcome>[] = [];
  for (const mutation of plan.mutations) {
    const done = executeMutation(session, mutation, schema, context).catch((error) => {
      throw errorOfItem(error, mutation.item);
    });
    // Awaited below; a failed step makes all later ones fail.
    done.catch(() => {});
    pending.push(done);
    // Edits read their record first; without edits, all steps are pipelined.
    if (hasEdits(plan)) await done;
  }
  let outcome = noOutcome;
  for (const done of pending) outcome = joinOutcomes(outcome, await done);
  return outcome;
}

async function executeMutation(
  session: Session,
  mutation: Mutation,
  schema: Schema,
  context: CompileContext,
): Promise<WriteOutcome> {
  const resolved = isEdited(mutation) ? await resolveMutation(session, mutation, context) : mutation;
  const { statements, outcome } = compileMutation(resolved, schema, context, false);
  const locks = resolved.kind === 'delete' ? [compileLocks(resolved.table, [resolved.objectId], context.dialect)] : [];
  let results: readonly Result[];
  try {
    results = await Promise.all([...locks, ...statements].map((statement) => session.query(statement)));
  } catch (error) {
    throw refusalOf(error, mutation);
  }
  return outcome(results.slice(locks.length));
}

async function resolveMutation(session: Session, mutation: Mutation, { dialect }: CompileContext): Promise<Mutation> {
  const { mutations } = await resolvePlan(session, { changes: [], mutations: [mutation] }, dialect, new EditedRecords());
  return mutations[0] ?? mutation;
}
