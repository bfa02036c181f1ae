import type { Schema } from '../../../schema/model.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import type { Result, Session } from '../connection/database.ts';
import { type CompileContext, compileLocks, compileMutation } from './compile-mutation.ts';
import { EditedRecords, hasEdits, isEdited, resolvePlan } from './json-updates.ts';
import { refusalOf } from './map-error.ts';

/**
 * Executes the steps of one write inside the caller's transaction, and throws the error of the step that failed.
 * @returns members of a JSON object with the values that updates return, each preceded by a comma
 * @throws objectNotFound, duplicateValue, pointedAt and others; the caller's transaction must then end
 */
export async function executePlan(session: Session, plan: WritePlan, schema: Schema, context: CompileContext): Promise<string> {
  const pending: Promise<string>[] = [];
  for (const mutation of plan.mutations) {
    const done = executeMutation(session, mutation, schema, context);
    // Awaited below; a failed step makes all later ones fail.
    done.catch(() => {});
    pending.push(done);
    // Edits read their record first; without edits, all steps are pipelined.
    if (hasEdits(plan)) await done;
  }
  let returned = '';
  for (const done of pending) returned += await done;
  return returned;
}

async function executeMutation(session: Session, mutation: Mutation, schema: Schema, context: CompileContext): Promise<string> {
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
