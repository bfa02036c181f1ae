import type { Schema } from '../../../schema/model.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import type { Result, Session } from '../connection/database.ts';
import { type CompileContext, compileLocks, compileMutation } from './compile-mutation.ts';
import { EditedRecords, hasEdits, isEdited, settlePlan } from './json-updates.ts';
import { refusalOf } from './map-error.ts';

/**
 * Carries out the steps of one write inside the caller's transaction, and tells the error of the step that fails.
 * @returns members of a JSON object with the values that updates return, each after a comma
 * @throws objectNotFound, duplicateValue, pointedAt and the like; then the caller's transaction has to end
 */
export async function executePlan(session: Session, plan: WritePlan, schema: Schema, context: CompileContext): Promise<string> {
  const carried: Promise<string>[] = [];
  for (const mutation of plan.mutations) {
    const done = executeMutation(session, mutation, schema, context);
    // The first that fails is told of below, and fails the rest.
    done.catch(() => {});
    carried.push(done);
    // What is edited is read first; else all steps are sent together.
    if (hasEdits(plan)) await done;
  }
  let returned = '';
  for (const done of carried) returned += await done;
  return returned;
}

async function executeMutation(session: Session, mutation: Mutation, schema: Schema, context: CompileContext): Promise<string> {
  const settled = isEdited(mutation) ? await settledAlone(session, mutation, context) : mutation;
  const { statements, outcome } = compileMutation(settled, schema, context, false);
  const locks = settled.kind === 'delete' ? [compileLocks(settled.table, [settled.objectId], context.dialect)] : [];
  let results: readonly Result[];
  try {
    results = await Promise.all([...locks, ...statements].map((statement) => session.query(statement)));
  } catch (error) {
    throw refusalOf(error, mutation);
  }
  return outcome(results.slice(locks.length));
}

async function settledAlone(session: Session, mutation: Mutation, { dialect }: CompileContext): Promise<Mutation> {
  const { mutations } = await settlePlan(session, { changes: [], mutations: [mutation] }, dialect, new EditedRecords());
  return mutations[0] ?? mutation;
}
