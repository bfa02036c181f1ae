import { fail } from '../../../errors/fail.ts';
import type { Field } from '../../../schema/model.ts';
import { applyEdits } from '../../../values/index.ts';
import type { Assignment, Mutation, WritePlan } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Session } from '../connection/database.ts';
import { recordKey } from './compile-group.ts';
import { compileLocked } from './compile-mutation.ts';

type Update = Extract<Mutation, { kind: 'update' }>;
type Edit = Extract<Assignment, { kind: 'edit' }>;

/** What is known of the records that edits are about, while the writes before are not carried out yet. */
export class EditedRecords {
  /** Texts of json columns, by record and column: as they were read, or as writes before have left them. */
  readonly texts = new Map<string, Map<string, string | null>>();
  /** Those that writes before have changed. */
  readonly changed = new Set<string>();
  /** Columns that are read already, or about to be. */
  readonly asked = new Map<string, Set<string>>();
}

/** Whether a step edits json columns, which takes reading them first. */
export function isEdited(mutation: Mutation): mutation is Update {
  return mutation.kind === 'update' && mutation.assignments.some(isEdit);
}

/** Whether a write does. */
export function hasEdits({ mutations }: WritePlan): boolean {
  return mutations.some(isEdited);
}

const isEdit = (assignment: Assignment): assignment is Edit => assignment.kind === 'edit';

/** The json columns that an update edits. */
export function editedFields({ assignments }: Update): Field[] {
  return assignments.filter(isEdit).map(({ field }) => field);
}

/** The updates of a write that edit json columns. */
export function editedUpdates({ mutations }: WritePlan): Update[] {
  return mutations.filter(isEdited);
}

/** What a record has in the columns that were asked for; `null`: the update does not find it. */
type Reading = Promise<ReadonlyMap<string, string | null> | null>;

/** Sends what locks the records of a write's edits and reads their columns, but for those that were asked for before. */
export function readEdited(session: Session, plan: WritePlan, dialect: Dialect, { asked }: EditedRecords): Reading[] {
  return editedUpdates(plan).map((update) => {
    const key = recordKey(update.table.className, update.objectId);
    const before = asked.get(key) ?? new Set();
    const columns = editedFields(update).map(({ column }) => column);
    asked.set(key, new Set([...before, ...columns]));
    const reading = read(
      session,
      update,
      columns.filter((column) => !before.has(column)),
      dialect,
    );
    // It is waited for in its turn, or not at all where one before fails.
    reading.catch(() => {});
    return reading;
  });
}

async function read(session: Session, update: Update, columns: readonly string[], dialect: Dialect): Reading {
  const [row] = (await session.query(compileLocked(update, columns, dialect))).rows;
  return row ? new Map(columns.map((column, at) => [column, row[at + 1] as string | null])) : null;
}

/**
 * A write with all its edits settled, in their order: its updates as plain ones.
 * @param readings of its edits, by `readEdited`
 * @param records what this write makes of them is added
 * @throws objectNotFound or the step's own error instead; what the operators reject; errors of the database
 */
export async function settlePlan(
  session: Session,
  plan: WritePlan,
  dialect: Dialect,
  records: EditedRecords,
  readings = readEdited(session, plan, dialect, records),
): Promise<WritePlan> {
  const mutations: Mutation[] = [];
  let edits = 0;
  for (const mutation of plan.mutations) {
    if (!isEdited(mutation)) {
      mutations.push(mutation);
      continue;
    }
    const found = await readings[edits++];
    if (!found) return fail(mutation.missing ?? 'objectNotFound');
    const known = new Map([...found, ...(records.texts.get(recordKey(mutation.table.className, mutation.objectId)) ?? [])]);
    // A write before was to read them, and did not find the record.
    const missing = editedFields(mutation).filter(({ column }) => !known.has(column));
    const late =
      missing.length > 0
        ? await read(
            session,
            mutation,
            missing.map(({ column }) => column),
            dialect,
          )
        : null;
    mutations.push(settleEdits(mutation, new Map([...known, ...(late ?? [])]), records));
  }
  return { ...plan, mutations };
}

/** @param known the columns that the update edits, and what else is known of its record */
function settleEdits(update: Update, known: Map<string, string | null>, { texts, changed }: EditedRecords): Update {
  const key = recordKey(update.table.className, update.objectId);
  // They stay known where the record refuses the edit.
  texts.set(key, known);
  const made = new Map(known);
  const values = new Map<Field, string | null>();
  // Of several edits that the record refuses, the error of the first column is told.
  for (const { field, edits } of inColumnOrder(update)) {
    const label = `${update.table.className}.${field.name}`;
    const current = known.get(field.column) ?? null;
    values.set(field, applyEdits(current, edits, field.type === 'Array' ? 'Array' : 'Object', label));
  }
  const assignments = update.assignments.map((assignment): Assignment => {
    const { field, kind } = assignment;
    if (kind === 'increment') return assignment;
    const value = kind === 'edit' ? (values.get(field) ?? null) : assignment.value;
    made.set(field.column, value as string | null);
    return { kind: 'set', field, value };
  });
  // Only now: a write that fails leaves nothing.
  texts.set(key, made);
  changed.add(key);
  return { ...update, assignments };
}

function inColumnOrder({ table, assignments }: Update): Edit[] {
  const edits = new Map(assignments.filter(isEdit).map((edit) => [edit.field.name, edit]));
  return [...table.fields.keys()].flatMap((name) => edits.get(name) ?? []);
}
