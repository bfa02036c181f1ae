import type { RowGuard } from '../../access/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { Field, Reference, TableSchema } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import { type Assignment, type Mutation, noOutcome, type WriteOutcome } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { writeFilter } from './filter.ts';
import { writeFits } from './record-size.ts';
import { type RowContext, returnedMembers } from './row-layout.ts';
import { writeGuard } from './row-security.ts';
import { isActorField, SqlWriter, type Statement } from './sql-writer.ts';

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;
type Link = Of<'link' | 'unlink'>;

/**
 * Compiles the update of a record that returns the requested columns; it returns no row if the record does not exist or is hidden.
 * @param growth bytes that it sets; the update is skipped if the record would exceed the size limit by them
 */
export function compileUpdate(mutation: Of<'update'>, dialect: Dialect, growth: number | null = null): Statement {
  const out = new SqlWriter(dialect);
  writeAssignments(out, mutation);
  writeWhere(out, mutation);
  if (growth !== null) writeFits(out.add(' AND '), mutation, growth);
  out.add(' RETURNING ').name('objectId');
  const advanced = advancedField(mutation);
  if (advanced) out.add(', ').name(advanced.column);
  for (const field of mutation.returning) out.add(', ').name(field.column);
  return out.statement();
}

/** An update that advances a Date to a value that is known beforehand. */
export interface KnownAdvance {
  readonly statement: Statement;
  /** The Date as stored, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/**
 * Compiles an update that applies only if the stored Date is early enough to be advanced to the write's time, as it nearly always is: its result is
 * then known, and RETURNING, a third of the statement's time, is not needed.
 * @returns `null` if more is to be returned; if the statement changes no row, `compileUpdate` tells why
 */
export function compileKnownAdvance(mutation: Of<'update'>, dialect: Dialect): KnownAdvance | null {
  const { assignments, returning } = mutation;
  const advance = returning.length > 0 ? undefined : assignments.find(isAdvance);
  if (!advance) return null;
  const { field, value, step } = advance;
  const out = new SqlWriter(dialect);
  writeAssignments(out, {
    ...mutation,
    assignments: assignments.map((one) => (one === advance ? { kind: 'set', field, value } : one)),
  });
  writeWhere(out, mutation);
  out
    .add(' AND ')
    .column('t', field.column)
    .add(' <= ')
    .bind(value - step);
  return { statement: out.statement(), updatedAt: value };
}

const isAdvance = (assignment: Assignment): assignment is Extract<Assignment, { kind: 'advance' }> =>
  assignment.kind === 'advance';

/** Returns the Date that an update advances and returns; `undefined` if it has none. */
export function advancedField({ assignments }: Pick<Of<'update'>, 'assignments'>): Field | undefined {
  return assignments.find(isAdvance)?.field;
}

/**
 * Returns the outcome of an update.
 * @param values what its statement returned after the objectId
 * @param isShown whether the caller may read the returned values
 */
export function updateOutcome(
  mutation: Of<'update'>,
  values: readonly unknown[],
  isShown: boolean,
  context: RowContext,
): WriteOutcome {
  const advanced = advancedField(mutation) !== undefined;
  const columns = advanced ? values.slice(1) : values;
  const returned = isShown && mutation.returning.length > 0 ? returnedMembers(mutation, columns, context) : '';
  if (advanced) return { returned, updates: [{ item: mutation.item ?? 0, updatedAt: Number(values[0]), returned }] };
  return returned === '' ? noOutcome : { returned };
}

/** Compiles an update of every record that matches. */
export function compileUpdateAll(mutation: Of<'updateAll'>, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect);
  writeAssignments(out, mutation);
  writeFilter(out.add(' WHERE '), mutation.filter, 't');
  return out.statement();
}

/** Writes an UPDATE up to its WHERE, under the alias `t`. */
function writeAssignments(out: SqlWriter, { table, assignments }: Pick<Of<'update'>, 'table' | 'assignments'>): void {
  out.add('UPDATE ').table(table.sqlName).add(' AS t SET ');
  assignments.forEach((assignment, index) => {
    if (index > 0) out.add(', ');
    out.name(assignment.field.column).add(' = ');
    writeAssignment(out, table, assignment);
    if (assignment.kind !== 'set') return;
    const companion = out.dialect.companion(table, assignment.field);
    if (companion) out.add(', ').name(companion.column).add(' = ').bind(companion.of(assignment.value));
  });
}

function writeAssignment(out: SqlWriter, table: TableSchema, assignment: Assignment): void {
  const { field } = assignment;
  switch (assignment.kind) {
    case 'set':
      out.bind(out.dialect.toColumn(storageOf(field), assignment.value));
      break;
    case 'increment':
      out.add('coalesce(').name(field.column).add(', 0) + ').bind(assignment.amount);
      break;
    case 'advance':
      out.add(`${out.dialect.greatest}(`).bind(assignment.value).add(', ').column('t', field.column).add(' + ');
      out.bind(assignment.step).add(')');
      break;
    case 'edit':
      if (!out.dialect.edit) throw new Error('this database computes edits before the statement');
      out.dialect.edit(out, field, assignment.edits, `${table.className}.${field.name}`);
      break;
  }
}

/** Compiles a check that the record exists, and the guard and the condition permit it. */
export function compileExists(
  table: TableSchema,
  objectId: string,
  guard: RowGuard | null,
  dialect: Dialect,
  condition?: Filter,
): Statement {
  const out = new SqlWriter(dialect).add('SELECT 1 FROM ').table(table.sqlName).add(' AS t');
  writeWhere(out, { table, objectId, guard, ...(condition && { condition }) });
  return out.statement();
}

/** Compiles a check, after an update that changed no row, that the record exists, the guard permits it, and it would exceed the size limit. */
export function compileOutgrown(mutation: Of<'update'>, growth: number, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('SELECT 1 FROM ').table(mutation.table.sqlName).add(' AS t');
  writeWhere(out, mutation);
  writeFits(out.add(' AND NOT '), mutation, growth);
  return out.statement();
}

/** Compiles a read of one record that matches. */
export function compileRequire({ table, filter }: Pick<Of<'require'>, 'table' | 'filter'>, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('SELECT 1 FROM ').table(table.sqlName).add(' AS t WHERE ');
  writeFilter(out, filter, 't');
  return out.add(' LIMIT 1').statement();
}

/** Compiles an unconditional delete by id. */
export function compileDelete(table: TableSchema, objectId: string, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('DELETE FROM ').table(table.sqlName).add(' WHERE ').name('objectId').add(' = ');
  return out.bind(objectId).statement();
}

/** Number of records that an `unmark` examines. More than one, since concurrent writes may each have set the flag. */
const MAX_UNMARKED = 4;

export function compileUnmark(mutation: Of<'unmark'>, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect);
  writeUnmark(out, mutation);
  return out.statement();
}

/** Writes an `unmark`; its condition comes last. */
export function writeUnmark(out: SqlWriter, { table, holding, mark }: Of<'unmark'>): void {
  const { dialect } = out;
  out.add('UPDATE ').table(table.sqlName).add(' SET ').name(mark.column).add(' = ').bind(dialect.toColumn('boolean', false));
  out.add(' WHERE "_seq" IN (SELECT m."_seq" FROM ').table(table.sqlName).add(' AS m WHERE ');
  holding.forEach(([field, value], at) => {
    const stored = dialect.toColumn(storageOf(field), value);
    if (at > 0) out.add(' AND ').column('m', field.column).add(' = ').bind(stored);
    else dialect.equalsLeadingKey(out, 'm', field, stored);
  });
  // Records of the same millisecond are ordered by creation.
  out
    .add(' ORDER BY ')
    .column('m', holding[0][0].column)
    .add(`${dialect.nulls(false)}, m."createdAt" DESC, m."_seq" DESC LIMIT ${MAX_UNMARKED}) AND `);
  out.name(mark.column).add(' = ');
  out.bind(dialect.toColumn('boolean', true));
}

/** Compiles a delete of every record that matches. */
export function compileDeleteAll({ table, filter }: Of<'deleteAll'>, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('DELETE FROM ').table(table.sqlName).add(' AS t WHERE ');
  writeFilter(out, filter, 't');
  return out.statement();
}

/**
 * Writes a query for the records that point at one through a field; the column's index answers it.
 * @param className of the record that is pointed at, which does not block itself
 * @param id its objectId in SQL
 * @param equal between the column and the id
 */
export function writePointing(
  out: SqlWriter,
  { table, field }: Reference,
  className: string,
  id: string,
  equal = `= ${id}`,
): void {
  out.add('SELECT 1 FROM ').table(table.sqlName).add(' AS p WHERE ').column('p', field.column).add(` ${equal}`);
  if (isActorField(field)) out.add(' AND ').column('p', field.column).add(" <> 'master'");
  if (table.className !== className) return;
  out.add(' AND ').column('p', 'objectId').add(` <> ${id}`);
}

/** Compiles the insertion of members into a Relation of a record (existing ones stay), or their removal. */
export function compileLink(mutation: Link, dialect: Dialect): Statement {
  if (mutation.memberIds === 'all') return compileUnlinkAll(mutation.relation, 'owner', mutation.ownerId, dialect);
  const out = new SqlWriter(dialect);
  const members = JSON.stringify(mutation.memberIds);
  if (mutation.kind === 'link') {
    out
      .add('INSERT INTO ')
      .table(mutation.relation.column)
      .add(' (owner, member) SELECT ')
      .bind(mutation.ownerId)
      .add(', value FROM ');
    out.dialect.listRows(out, members);
    return out.add(' WHERE true ON CONFLICT DO NOTHING').statement();
  }
  out.add('DELETE FROM ').table(mutation.relation.column).add(' WHERE owner = ').bind(mutation.ownerId);
  out.add(' AND member IN (SELECT value FROM ');
  out.dialect.listRows(out, members);
  return out.add(')').statement();
}

/** Compiles the removal of a record from a Relation: as owner with all its members, or as a member of all owners. */
export function compileUnlinkAll(relation: Field, side: 'owner' | 'member', objectId: string, dialect: Dialect): Statement {
  return new SqlWriter(dialect).add('DELETE FROM ').table(relation.column).add(` WHERE ${side} = `).bind(objectId).statement();
}

type RecordCondition = Pick<Of<'update'>, 'table' | 'objectId' | 'guard' | 'condition'>;

/** Writes the WHERE of the record that a step addresses, with its guard and condition, under the alias `t`. */
export function writeWhere(out: SqlWriter, { table, objectId, guard, condition }: RecordCondition): void {
  out.add(' WHERE ').column('t', 'objectId').add(' = ').bind(objectId);
  if (guard) writeGuard(out.add(' AND '), guard, table, 't');
  if (condition) writeFilter(out.add(' AND '), condition, 't');
}
