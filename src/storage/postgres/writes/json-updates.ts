import { fail } from '../../../errors/fail.ts';
import type { Field } from '../../../schema/model.ts';
import { applyEditsApart } from '../../../values/index.ts';
import { isEdit, isEdited } from '../../column-values.ts';
import type { Assignment, Mutation, WritePlan } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Session } from '../connection/database.ts';
import { idOf } from './bulk-insert.ts';
import { recordKey } from './compile-group.ts';
import { compileLocked } from './compile-mutation.ts';

type Update = Extract<Mutation, { kind: 'update' }>;
type Edit = Extract<Assignment, { kind: 'edit' }>;

/** State of the records that edits refer to, after the preceding writes that are not executed yet. */
export class EditedRecords {
  /** Texts of json columns, by record and column: as read, or as the preceding writes leave them. */
  readonly texts = new Map<string, Map<string, string | null>>();
  /** Records changed by preceding writes. */
  readonly changed = new Set<string>();
  /** Columns that were read or requested. */
  readonly requestedColumns = new Map<string, Set<string>>();
}

/** Whether a write edits a record that one of its earlier steps writes otherwise: edits are computed before its steps are executed. */
export function editsItsChanges({ mutations }: WritePlan): boolean {
  const written = new Set<string>();
  for (const mutation of mutations) {
    const { kind, table } = mutation;
    if (kind !== 'insert' && kind !== 'update' && kind !== 'delete') continue;
    const key = recordKey(table.className, kind === 'insert' ? idOf(mutation) : mutation.objectId);
    if (isEdited(mutation) && written.has(key)) return true;
    if (!isEdited(mutation)) written.add(key);
  }
  return false;
}

/** Returns the json columns that an update edits. */
export function editedFields({ assignments }: Update): Field[] {
  return assignments.filter(isEdit).map(({ field }) => field);
}

/** Returns the updates of a write that edit json columns. */
export function editedUpdates({ mutations }: WritePlan): Update[] {
  return mutations.filter(isEdited);
}

/** Texts of the requested columns; `null` if the update does not find its record. */
type Reading = Promise<ReadonlyMap<string, string | null> | null>;

/** Sends statements that lock the records of a write's edits and read their columns, except those requested before. */
export function readEdited(session: Session, plan: WritePlan, dialect: Dialect, { requestedColumns }: EditedRecords): Reading[] {
  return editedUpdates(plan).map((update) => {
    const key = recordKey(update.table.className, update.objectId);
    const before = requestedColumns.get(key) ?? new Set();
    const columns = editedFields(update).map(({ column }) => column);
    requestedColumns.set(key, new Set([...before, ...columns]));
    const reading = read(
      session,
      update,
      columns.filter((column) => !before.has(column)),
      dialect,
    );
    // Awaited in its turn, or never if a preceding one fails.
    reading.catch(() => {});
    return reading;
  });
}

async function read(session: Session, update: Update, columns: readonly string[], dialect: Dialect): Reading {
  const [row] = (await session.query(compileLocked(update, columns, dialect))).rows;
  return row ? new Map(columns.map((column, at) => [column, row[at + 1] as string | null])) : null;
}

/**
 * Resolves the edits of a write, in their order, to plain assignments.
 * @param readings results of `readEdited` for its edits
 * @param records updated with the results of this write
 * @throws objectNotFound or the step's own error instead; errors of the operators; errors of the database
 */
export async function resolvePlan(
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
    // A preceding write requested these columns, but did not find the record.
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
    mutations.push(await resolveEdits(mutation, new Map([...known, ...(late ?? [])]), records));
  }
  return { ...plan, mutations };
}

/** @param known the columns that the update edits, and others known of its record */
async function resolveEdits(
  update: Update,
  known: Map<string, string | null>,
  { texts, changed }: EditedRecords,
): Promise<Update> {
  const key = recordKey(update.table.className, update.objectId);
  // The columns stay known even if the record rejects the edit.
  texts.set(key, known);
  const updated = new Map(known);
  const values = new Map<Field, string | null>();
  // If several edits are rejected, the first column's error is reported.
  for (const { field, edits } of inColumnOrder(update)) {
    const label = `${update.table.className}.${field.name}`;
    const current = known.get(field.column) ?? null;
    values.set(field, await applyEditsApart(current, edits, field.type === 'Array' ? 'Array' : 'Object', label));
  }
  const assignments = update.assignments.map((assignment): Assignment => {
    const { field, kind } = assignment;
    if (kind === 'increment' || kind === 'advance') return assignment;
    const value = kind === 'edit' ? (values.get(field) ?? null) : assignment.value;
    updated.set(field.column, value as string | null);
    return { kind: 'set', field, value };
  });
  // Only now: a write that fails must leave no trace.
  texts.set(key, updated);
  changed.add(key);
  return { ...update, assignments };
}

function inColumnOrder({ table, assignments }: Update): Edit[] {
  const edits = new Map(assignments.filter(isEdit).map((edit) => [edit.field.name, edit]));
  return [...table.fields.keys()].flatMap((name) => edits.get(name) ?? []);
}
