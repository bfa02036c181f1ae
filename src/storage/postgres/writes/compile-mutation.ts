import { fail } from '../../../errors/fail.ts';
import type { Field, Schema, TableSchema } from '../../../schema/model.ts';
import { growthOf } from '../../column-values.ts';
import { type MissingError, type Mutation, noOutcome, type WriteOutcome } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { writeFilter } from '../../sql/filter.ts';
import { compileInsert } from '../../sql/insert.ts';
import {
  advancedField,
  compileDeleteAll,
  compileExists,
  compileLink,
  compileOutgrown,
  compileRequire,
  compileUnmark,
  compileUpdate,
  compileUpdateAll,
  updateOutcome,
  writePointing,
  writeWhere,
} from '../../sql/mutation.ts';
import { writeBytes } from '../../sql/record-size.ts';
import type { RowContext } from '../../sql/row-layout.ts';
import { writeGuard } from '../../sql/row-security.ts';
import { SqlWriter, type Statement } from '../../sql/sql-writer.ts';
import type { Result } from '../connection/database.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { canFold, type FoldedStep, snapshotOf, sourceColumns, writeFoldedSteps } from './folded-steps.ts';
import { failWithoutRows } from './sql-assertion.ts';

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;

/** Services for compiling the steps of writes. */
export interface CompileContext extends RowContext {
  readonly dialect: Dialect;
  /** As in `Database`. */
  readonly isCoordinator: boolean;
}

/** A step of a write in SQL. Its statements do not depend on the results of other statements. */
export interface CompiledMutation {
  readonly statements: readonly Statement[];
  /** Text to append to the only statement so that it returns one more value; null if that is impossible. */
  readonly tail: string | null;
  /** @throws objectNotFound or the step's own error instead, pointedAt */
  outcome(results: readonly Result[]): WriteOutcome;
  /** Whether it had no effect because another transaction holds or has just changed its record: it must be executed again after `compileLocks`. */
  mustRetryLocked?(results: readonly Result[]): boolean;
}

const nothing = () => noOutcome;

/**
 * Compiles a step and its folded steps into one statement; they take effect if it does. Field edits must be resolved to plain assignments first
 * (json-updates.ts).
 * @param strict as in `compileMutation`
 * @returns `null` if they cannot be one statement
 */
export function compileFolded(
  mutations: readonly Mutation[],
  schema: Schema,
  context: CompileContext,
  strict = false,
): CompiledMutation | null {
  const main = mutations.find((one) => one.kind === 'update' || one.kind === 'delete');
  const others = mutations.filter((one) => one !== main);
  // A coordinator takes no snapshot in RETURNING.
  if (context.isCoordinator && others.some((one) => snapshotOf(one))) return null;
  // A step before an update must see the record as it was.
  if (!main || (main.kind === 'update' && main !== mutations[0]) || others.length === 0 || !canFold(main, others)) return null;
  return main.kind === 'update' ? update(main, context, others, strict) : remove(main, schema, context, others, strict);
}

/**
 * Compiles a step. Field edits must be resolved to plain assignments first (json-updates.ts).
 * @param strict whether the statement itself must fail if the step fails, because its write has other steps
 */
export function compileMutation(mutation: Mutation, schema: Schema, context: CompileContext, strict: boolean): CompiledMutation {
  const { dialect } = context;
  switch (mutation.kind) {
    case 'insert':
      // A coordinator takes no sub-query in RETURNING.
      return {
        statements: [compileInsert(mutation, dialect)],
        tail: context.isCoordinator ? null : ' RETURNING ',
        outcome: nothing,
      };
    case 'update':
      return update(mutation, context, [], strict);
    case 'delete':
      return remove(mutation, schema, context, [], strict);
    case 'require': {
      const { text, params } = compileRequire(mutation, dialect);
      const statement = { text: `${text} FOR ${mutation.exclusive ? 'UPDATE' : 'SHARE'} OF t`, params };
      return {
        statements: [strict ? failWithoutRow(statement) : statement],
        tail: null,
        outcome: unlessMissing(mutation.missing),
      };
    }
    case 'unmark':
      return { statements: [compileUnmark(mutation, dialect)], tail: null, outcome: nothing };
    case 'updateAll':
      return { statements: [compileUpdateAll(mutation, dialect)], tail: null, outcome: nothing };
    case 'deleteAll':
      return { statements: [compileDeleteAll(mutation, dialect)], tail: null, outcome: nothing };
    default:
      return { statements: [compileLink(mutation, dialect)], tail: null, outcome: nothing };
  }
}

function unlessMissing(missing: MissingError = 'objectNotFound') {
  return ([found]: readonly Result[]): WriteOutcome => (found?.rows.length === 0 ? fail(missing) : noOutcome);
}

/** Returns the same statement with an additional first column, which fails if there is no row. */
function failWithoutRow({ text, params }: Statement): Statement {
  return {
    text: `WITH u AS (${text}) SELECT ${failWithoutRows('SELECT count(*) FROM u')}, u.* FROM (SELECT) AS one LEFT JOIN u ON true`,
    params,
  };
}

/** @param folded steps that take effect if this one does */
function update(
  mutation: Of<'update'>,
  context: CompileContext,
  folded: readonly FoldedStep[],
  strict: boolean,
): CompiledMutation {
  const { table, objectId, returning, returningGuard = null, missing = 'objectNotFound' } = mutation;
  const { dialect } = context;
  const growth = growthOf(mutation);
  const statements =
    folded.length > 0
      ? [withFoldedSteps(mutation, folded, dialect, growth, strict)]
      : [strict ? failWithoutRow(compileUpdate(mutation, dialect, growth)) : compileUpdate(mutation, dialect, growth)];
  if (growth !== null) statements.push(compileOutgrown(mutation, growth, dialect));
  const guarded = returning.length > 0 && returningGuard !== null;
  // As the record is after the update.
  if (guarded) statements.push(compileExists(table, objectId, returningGuard, dialect));
  const before = strict ? 2 : 1;
  return {
    statements,
    tail: strict || statements.length > 1 || folded.length > 0 || context.isCoordinator ? null : ', ',
    outcome([updated, ...others]) {
      const row = updated?.rows[0];
      if (!row) return fail(growth !== null && others[0]?.rows.length === 1 ? 'valueTooLarge' : missing);
      const visible = others.at(-1);
      return updateOutcome(mutation, row.slice(before), !(guarded && visible?.rows.length === 0), context);
    },
  };
}

/** Returns the statement of an update with its folded steps; it returns the same columns, if strict after one that fails if there is no row. */
function withFoldedSteps(
  mutation: Of<'update'>,
  folded: readonly FoldedStep[],
  dialect: Dialect,
  growth: number | null,
  strict: boolean,
): Statement {
  const { text, params } = compileUpdate(mutation, dialect, growth);
  const out = new SqlWriter(dialect);
  out.params.push(...params);
  const count = 1 + (advancedField(mutation) ? 1 : 0) + mutation.returning.length;
  const own = Array.from({ length: count }, (_, at) => `u${at}`).join(', ');
  const columns = sourceColumns(folded);
  out.add(`WITH u (${own}`);
  for (const name of columns.keys()) out.add(', ').name(name);
  out.add(`) AS (${text}`);
  for (const write of columns.values()) write(out.add(', '));
  writeFoldedSteps(out.add(')'), folded, 'u');
  if (!strict) return out.add(` SELECT ${own} FROM u`).statement();
  return out
    .add(` SELECT ${failWithoutRows('SELECT count(*) FROM u')}, ${own} FROM (SELECT) AS one LEFT JOIN u ON true`)
    .statement();
}

/** In place of a Pointer's position: the record has changed since the statement began. */
const CHANGED = -1;

/**
 * Deletes a record unless others point at it, also from system tables. Reference: records.md#delete (error 119).
 * One statement: it locks the record, checks each Pointer column that may refer to it by its index until one does, then deletes it and its join
 * rows. It looks for ids BETWEEN the id and itself: for an equality with any id, the planner expects as many records as point at the others on
 * average, and reads the whole table if these are many.
 * The statement sees the state at its beginning; a transaction that holds the record, or has changed it since, may have added references. So
 * it does not wait for that transaction, but leaves the record unchanged (SKIP LOCKED). A coordinator cannot compare the places of rows (ctid) in a
 * statement that changes some, so there another statement locks the record first.
 */
function remove(
  { table, objectId, guard, condition }: Of<'delete'>,
  schema: Schema,
  { dialect, isCoordinator }: CompileContext,
  folded: readonly FoldedStep[],
  strict: boolean,
): CompiledMutation {
  const references = schema.referencesTo.get(table.className) ?? [];
  const pointers = references.filter(({ field }) => field.type === 'Pointer');
  const joins: (readonly [string, string])[] = [
    ...[...table.fields.values()].filter(({ type }) => type === 'Relation').map(({ column }) => [column, 'owner'] as const),
    ...references.filter(({ field }) => field.type === 'Relation').map(({ field }) => [field.column, 'member'] as const),
  ];
  const hasReferences = pointers.length + joins.length > 0;
  const skipsLocked = hasReferences && !isCoordinator;
  const out = new SqlWriter(dialect);
  const id = `${out.parameter(objectId)}::text`;
  out
    .add('WITH found AS MATERIALIZED (SELECT t."objectId"')
    .add(skipsLocked ? ', t.ctid AS place FROM ' : ' FROM ')
    .table(table.sqlName);
  out.add(` AS t WHERE t."objectId" = ${id}`);
  if (guard) writeGuard(out.add(' AND '), guard, table, 't');
  if (condition) writeFilter(out.add(' AND '), condition, 't');
  out.add(` FOR UPDATE OF t${skipsLocked ? ' SKIP LOCKED' : ''}), pointing AS MATERIALIZED (SELECT CASE`);
  if (skipsLocked)
    out.add(' WHEN place <> (SELECT s.ctid FROM ').table(table.sqlName).add(` AS s WHERE s."objectId" = ${id}) THEN ${CHANGED}`);
  pointers.forEach((pointer, at) => {
    writePointing(out.add(' WHEN EXISTS ('), pointer, table.className, id, `BETWEEN ${id} AND ${id}`);
    out.add(`) THEN ${at}`);
  });
  if (!skipsLocked) out.add(' WHEN false THEN 0');
  out.add(' END AS at FROM found), gone (id');
  const columns = sourceColumns(folded);
  for (const name of columns.keys()) out.add(', ').name(name);
  out.add(') AS (DELETE FROM ').table(table.sqlName).add(' AS t WHERE t."objectId" = ');
  out.add('(SELECT f."objectId" FROM found AS f, pointing AS p WHERE p.at IS NULL) RETURNING t."objectId"');
  for (const write of columns.values()) write(out.add(', '));
  out.add(')');
  joins.forEach(([join, side], at) => {
    out.add(`, j${at} AS (DELETE FROM `).table(join).add(` WHERE ${side} = ${id} AND EXISTS (SELECT 1 FROM gone))`);
  });
  writeFoldedSteps(out, folded, 'gone');
  out.add(' SELECT (SELECT at FROM pointing), (SELECT count(*) FROM gone)');
  if (strict) out.add(`, ${failWithoutRows('SELECT count(*) FROM gone')}`);
  const locks = isCoordinator && hasReferences ? [compileLocks(table, [objectId], dialect)] : [];
  return {
    statements: [...locks, out.statement()],
    tail: isCoordinator ? null : ', ',
    outcome(results) {
      const [at, count] = (results.at(-1)?.rows[0] ?? []) as [number | null, number];
      const pointer = at === null ? undefined : pointers[at];
      if (pointer) return fail('pointedAt', objectId, pointer.table.className, pointer.field.name);
      return count === 0 ? fail('objectNotFound') : noOutcome;
    },
    mustRetryLocked([deleted]) {
      const [at, count] = deleted?.rows[0] ?? [];
      return skipsLocked && count === 0 && (at === null || at === CHANGED);
    },
  };
}

/** Locks records of a table in the order of their ids, until the end of the transaction. */
export function compileLocks({ sqlName }: TableSchema, ids: readonly string[], dialect: Dialect): Statement {
  const text = `SELECT 1 FROM ${dialect.table(sqlName)} AS t WHERE "objectId" = ANY($1::text[]) ORDER BY "objectId" FOR UPDATE OF t`;
  return { text, params: [arrayLiteral(ids)] };
}

/** Returns a query of the total bytes of some columns by record: rows of an objectId and a number. */
export function compileBytes(
  { sqlName }: TableSchema,
  fields: readonly Field[],
  ids: readonly string[],
  dialect: Dialect,
): Statement {
  const out = new SqlWriter(dialect).add('SELECT t."objectId", ');
  writeBytes(out, fields, 't');
  out.add(' FROM ').table(sqlName).add(' AS t WHERE t."objectId" = ANY(').bind(arrayLiteral(ids));
  return out.add('::text[])').statement();
}

/**
 * Returns a query of 1 and columns of the record of an update, which locks it until the end of the transaction; no row if the update does not find
 * it.
 */
export function compileLocked(mutation: Of<'update'>, columns: readonly string[], dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('SELECT 1');
  for (const column of columns) out.add(', ').column('t', column);
  writeWhere(out.add(' FROM ').table(mutation.table.sqlName).add(' AS t'), mutation);
  return out.add(' FOR UPDATE OF t').statement();
}
