import { errorOfItem, fail, serviceError } from '../../../errors/fail.ts';
import { limits } from '../../../kernel/limits.ts';
import { applyStep, stepsOf } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import { growthOf } from '../../column-values.ts';
import {
  type Condition,
  ConditionFailed,
  joinOutcomes,
  type Mutation,
  noOutcome,
  type Snapshot,
  type WriteOutcome,
  type WritePlan,
} from '../../port.ts';
import { compileInsert } from '../../sql/insert.ts';
import {
  advancedField,
  compileDelete,
  compileDeleteAll,
  compileExists,
  compileKnownAdvance,
  compileLink,
  compileRequire,
  compileUnlinkAll,
  compileUnmark,
  compileUpdate,
  compileUpdateAll,
  updateOutcome,
} from '../../sql/mutation.ts';
import { compileSize } from '../../sql/record-size.ts';
import type { RowContext } from '../../sql/row-layout.ts';
import type { Connection } from '../connection/connection.ts';
import { saveStep } from '../schema/catalog.ts';
import { applyDdl } from '../schema/ddl.ts';
import { sqliteDialect as dialect, sqliteDialect } from '../sql/dialect.ts';
import { unlessTaken } from './duplicates.ts';
import { refusePointedAt } from './pointed-at.ts';
import { takeSnapshot } from './snapshot.ts';

/**
 * Executes one step of a write, inside the caller's savepoint.
 * @throws objectNotFound or the step's own error instead, duplicateValue, pointedAt, and the errors of field operators
 */
export function executeMutation(connection: Connection, mutation: Mutation, schema: Schema, context: RowContext): WriteOutcome {
  switch (mutation.kind) {
    case 'insert':
      insert(connection, mutation);
      return noOutcome;
    case 'update':
      return update(connection, mutation, context);
    case 'delete':
      remove(connection, mutation, schema);
      return noOutcome;
    case 'require':
      if (!connection.first(compileRequire(mutation, dialect))) fail(mutation.missing ?? 'objectNotFound');
      return noOutcome;
    case 'unmark':
      connection.run(compileUnmark(mutation, dialect));
      return noOutcome;
    case 'updateAll':
      unlessTaken(connection, mutation.table, () => connection.run(compileUpdateAll(mutation, dialect)));
      return noOutcome;
    case 'deleteAll':
      connection.run(compileDeleteAll(mutation, dialect));
      return noOutcome;
    default:
      connection.run(compileLink(mutation, dialect));
      return noOutcome;
  }
}

type Insert = Extract<Mutation, { kind: 'insert' }>;

function insert(connection: Connection, mutation: Insert): void {
  const plain = mutation.source?.kind === 'snapshot' ? withSnapshot(connection, mutation, mutation.source) : mutation;
  if (!plain) return;
  unlessTaken(connection, plain.table, () => connection.run(compileInsert(plain, dialect)), plain);
}

/** Returns the insert with the snapshot as one of its values; `null` if the record does not exist. */
function withSnapshot(connection: Connection, { source: _, ...plain }: Insert, snapshot: Snapshot): Insert | null {
  const text = takeSnapshot(connection, snapshot);
  return text === null ? null : { ...plain, values: [...plain.values, [snapshot.to, text]] };
}

function update(connection: Connection, mutation: Extract<Mutation, { kind: 'update' }>, context: RowContext): WriteOutcome {
  const { table, objectId, returningGuard = null } = mutation;
  const size = () => (connection.first(compileSize(table, objectId, dialect))?.[0] ?? 0) as number;
  const mayOutgrow = growthOf(mutation) !== null;
  if (!mayOutgrow) {
    const known = compileKnownAdvance(mutation, dialect);
    if (known && unlessTaken(connection, table, () => connection.run(known.statement), mutation) > 0)
      return updateOutcome(mutation, [known.updatedAt], true, context);
  }
  const before = mayOutgrow ? size() : 0;
  const row = unlessTaken(connection, table, () => connection.first(compileUpdate(mutation, dialect)), mutation);
  if (!row) fail(mutation.missing ?? 'objectNotFound');
  // A record that was too large before may become smaller.
  if (mayOutgrow && size() > Math.max(before, limits.recordBytes)) fail('valueTooLarge');
  const values = row.slice(1);
  if (mutation.returning.length === 0) return updateOutcome(mutation, values, true, context);
  const first = advancedField(mutation) ? 1 : 0;
  mutation.returning.forEach((field, index) => {
    const value = values[first + index];
    if (typeof value === 'number' && !Number.isFinite(value))
      throw serviceError('badOperator', `the result of Increment on ${field.name} is not a finite number`);
  });
  const isShown = !returningGuard || connection.first(compileExists(table, objectId, returningGuard, dialect)) !== undefined;
  return updateOutcome(mutation, values, isShown, context);
}

function remove(connection: Connection, mutation: Extract<Mutation, { kind: 'delete' }>, schema: Schema): void {
  const { table, objectId, guard, condition } = mutation;
  if (!connection.first(compileExists(table, objectId, guard, dialect, condition))) fail('objectNotFound');
  refusePointedAt(connection, table, objectId, schema);
  connection.run(compileDelete(table, objectId, dialect));
  for (const field of table.fields.values())
    if (field.type === 'Relation') connection.run(compileUnlinkAll(field, 'owner', objectId, dialect));
  for (const { field } of schema.referencesTo.get(table.className) ?? [])
    if (field.type === 'Relation') connection.run(compileUnlinkAll(field, 'member', objectId, dialect));
}

/**
 * Executes a whole plan inside the caller's transaction.
 * @returns the schema after it, and the outcome
 * @throws ConditionFailed if a condition does not hold; the errors of the steps
 */
export function executePlan(
  connection: Connection,
  plan: WritePlan,
  schema: Schema,
  context: RowContext,
): { schema: Schema; outcome: WriteOutcome } {
  let current = schema;
  if (plan.conditions) for (const condition of plan.conditions) if (!holds(connection, condition)) throw new ConditionFailed();
  if (plan.changes.length > 0) {
    connection.forgetPlans();
    for (const step of stepsOf(plan.changes)) {
      const before = current;
      const after = applyStep(before, step);
      applyDdl(connection, step, before, after);
      connection.use((db) => saveStep(db, step, before, after));
      current = after;
    }
  }
  let outcome = noOutcome;
  for (const mutation of plan.mutations)
    try {
      outcome = joinOutcomes(outcome, executeMutation(connection, mutation, current, context));
    } catch (error) {
      throw errorOfItem(error, mutation.item);
    }
  return { schema: current, outcome };
}

/** `unchanged` always holds: one process has the store to itself, and its writers take turns, so no other writer can come between. */
function holds(connection: Connection, condition: Condition): boolean {
  return condition.kind === 'unchanged' || !connection.first(compileRequire(condition, sqliteDialect));
}
