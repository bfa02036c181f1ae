import { fail } from '../../../errors/fail.ts';
import type { Field } from '../../../schema/model.ts';
import { applyEdits } from '../../../values/index.ts';
import type { Assignment, Mutation, WritePlan } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Session } from '../connection/database.ts';
import { recordKey } from './group.ts';
import { compileLocked } from './step.ts';

type Update = Extract<Mutation, { kind: 'update' }>;
type Edit = Extract<Assignment, { kind: 'edit' }>;

/** Texts of json columns as writes before have left them, by record and column. */
export type EditedColumns = Map<string, Map<string, string | null>>;

/** Whether a step edits json columns, which takes reading them first. */
export function isEdited(mutation: Mutation): mutation is Update {
  return mutation.kind === 'update' && mutation.assignments.some(isEdit);
}

/** Whether a write does. */
export function hasEdits({ mutations }: WritePlan): boolean {
  return mutations.some(isEdited);
}

const isEdit = (assignment: Assignment): assignment is Edit => assignment.kind === 'edit';

/**
 * Locks the record of an edited update and computes the new values: the update as a plain one.
 * @param edited what earlier writes made of records, which are not carried out yet; what this one makes is added
 * @throws objectNotFound or the step's own error instead; what the operators reject; errors of the database
 */
export async function settleEdits(session: Session, update: Update, dialect: Dialect, edited: EditedColumns): Promise<Update> {
  const columns = update.assignments.filter(isEdit).map(({ field }) => field.column);
  const { rows } = await session.query(compileLocked(update, columns, dialect));
  const [row] = rows;
  if (!row) return fail(update.missing ?? 'objectNotFound');
  const key = recordKey(update.table.className, update.objectId);
  const known = edited.get(key);
  const made = new Map(known);
  const values = new Map<Field, string | null>();
  // Of several edits that the record refuses, the error of the first column is told.
  for (const { field, edits } of inColumnOrder(update)) {
    const current = known?.has(field.column) ? known.get(field.column) : row[columns.indexOf(field.column)];
    const label = `${update.table.className}.${field.name}`;
    values.set(field, applyEdits((current ?? null) as string | null, edits, field.type === 'Array' ? 'Array' : 'Object', label));
  }
  const assignments = update.assignments.map((assignment): Assignment => {
    const { field, kind } = assignment;
    if (kind === 'increment') return assignment;
    const value = kind === 'edit' ? (values.get(field) ?? null) : assignment.value;
    made.set(field.column, value as string | null);
    return { kind: 'set', field, value };
  });
  // Only now: a write that fails leaves nothing.
  edited.set(key, made);
  return { ...update, assignments };
}

function inColumnOrder({ table, assignments }: Update): Edit[] {
  const edits = new Map(assignments.filter(isEdit).map((edit) => [edit.field.name, edit]));
  return [...table.fields.keys()].flatMap((name) => edits.get(name) ?? []);
}

/** A write with all its edits settled, in their order. Writes asked for together share the round trip. @throws as `settleEdits` */
export async function settlePlan(session: Session, plan: WritePlan, dialect: Dialect, edited: EditedColumns): Promise<WritePlan> {
  const mutations = await Promise.all(
    plan.mutations.map((mutation) => (isEdited(mutation) ? settleEdits(session, mutation, dialect, edited) : mutation)),
  );
  return { ...plan, mutations };
}
