import type { ReadableTable, ReadableTables, RowGuard, SubjectNames } from '../../access/index.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import type { SqlWriter } from './sql-writer.ts';

/** Writes the guard of a table's records. Passed as a parameter, since guards contain guards. */
type WriteGuard = (out: SqlWriter, guard: RowGuard, table: TableSchema, alias: string) => void;

/** The parts of a reference to a record, each written as an SQL text expression; `field` may be `null`. */
interface RecordRef {
  className(): void;
  objectId(): void;
  /** `null`: the record as a whole. */
  readonly field: FieldRef | null;
  /** The ACL of the record at the time of the copy: alias and column of JSON text; `null` if it is not known. */
  readonly acl: readonly [alias: string, column: string] | null;
}

/** A field name, or the expression of one that a row holds. */
type FieldRef = string | (() => void);

/** Writes whether the caller may read the record that a row is about. */
export function writeSubject(
  out: SqlWriter,
  { names, field, of }: { readonly names: SubjectNames; readonly field?: string; readonly of: ReadableTables },
  table: TableSchema,
  alias: string,
  writeGuard: WriteGuard,
): void {
  const column = (name: string) => () => void out.column(alias, fieldOf(table, name).column);
  const ref = { className: column(names.className), objectId: column(names.objectId), field: field ?? null, acl: null };
  writeReadable(out, ref, of, writeGuard);
}

/** Writes whether the caller may read all values that a row was made from. */
export function writeSources(
  out: SqlWriter,
  { field, of }: { readonly field: string; readonly of: ReadableTables },
  table: TableSchema,
  alias: string,
  writeGuard: WriteGuard,
): void {
  const { column } = fieldOf(table, field);
  const source = out.newAlias();
  out.add('(').column(alias, column).add(' IS NULL OR NOT EXISTS (SELECT 1 FROM ');
  out.dialect.lists(out, alias, column, ['className', 'objectId', 'field', 'acl']);
  const part = (name: string) => () => void out.column(source, name);
  out.add(` AS ${source} WHERE (`);
  const ref = { className: part('className'), objectId: part('objectId'), field: part('field'), acl: [source, 'acl'] as const };
  writeReadable(out, ref, of, writeGuard);
  out.add(') IS NOT TRUE))');
}

/** Writes whether a record of a table exists and satisfies a guard. */
export function writeRecordOf(
  out: SqlWriter,
  table: TableSchema,
  guard: RowGuard,
  objectId: () => void,
  writeGuard: WriteGuard,
): void {
  const inner = out.newAlias();
  out.add('EXISTS (SELECT 1 FROM ').table(table.sqlName).add(` AS ${inner} WHERE `).column(inner, 'objectId').add(' = ');
  objectId();
  writeGuard(out.add(' AND '), guard, table, inner);
  out.add(')');
}

/**
 * Writes whether a record, or a field of it, may be read, by one lookup by id in the table that the row names. A deleted record is readable if the
 * table is open to the caller and the remaining copies of its ACL permit it.
 */
function writeReadable(out: SqlWriter, ref: RecordRef, of: ReadableTables, writeGuard: WriteGuard): void {
  const tables = [...of.tables.values()];
  if (tables.length === 0) {
    out.add('false');
    return;
  }
  out.add('coalesce(CASE ');
  ref.className();
  for (const readable of tables) {
    const inner = out.newAlias();
    out.add(' WHEN ').bind(readable.table.className).add(' THEN (SELECT CASE WHEN ');
    out.joining(false, () => writeConditions(out, readable, ref.field, inner, writeGuard));
    out.add(' THEN true ELSE false END FROM ').table(readable.table.sqlName).add(` AS ${inner} WHERE `);
    out.column(inner, 'objectId').add(' = ');
    ref.objectId();
    out.add(')');
  }
  out.add(' END, ');
  writeDeleted(out, ref, of);
  out.add(', false)');
}

function writeConditions(
  out: SqlWriter,
  { rows, table, hidden }: ReadableTable,
  field: FieldRef | null,
  alias: string,
  writeGuard: WriteGuard,
): void {
  if (rows) writeGuard(out, rows, table, alias);
  else out.add('true');
  if (field === null) return;
  for (const [name, visibleIn] of hidden) {
    if (typeof field === 'string' && field !== name) continue;
    out.add(' AND (');
    if (typeof field !== 'string') {
      field();
      out.add(' <> ').bind(name).add(' OR ');
    }
    if (visibleIn) writeGuard(out, visibleIn, table, alias);
    else out.add('false');
    out.add(')');
  }
}

function writeDeleted(out: SqlWriter, ref: RecordRef, of: ReadableTables): void {
  const open = [...of.tables.values()].filter(({ seesDeleted }) => seesDeleted);
  if (!of.deletions || open.length === 0) {
    out.add('NULL');
    return;
  }
  const { deletions, identities } = of;
  const inner = out.newAlias();
  const acl = fieldOf(deletions, 'ACL').column;
  out.add('CASE ');
  ref.className();
  for (const { table, hidden } of open) {
    out.add(' WHEN ').bind(table.className).add(' THEN ');
    writeVisible(out, ref.field, hidden);
  }
  out.add(' END AND ');
  if (ref.acl) out.dialect.aclAllows(out, ...ref.acl, 'read', identities);
  out.add(ref.acl ? ' AND coalesce(' : '');
  out.add('(SELECT min(CASE WHEN ');
  out.dialect.aclAllows(out, inner, acl, 'read', identities);
  out.add(' THEN 1 ELSE 0 END) FROM ').table(deletions.sqlName).add(` AS ${inner} WHERE `);
  out.column(inner, fieldOf(deletions, 'objectIdValue').column).add(' = ');
  ref.objectId();
  out.add(' AND ').column(inner, fieldOf(deletions, 'objectClass').column).add(' = ');
  ref.className();
  out.add(' AND ').column(inner, fieldOf(deletions, 'event').column).add(" = 'delete')");
  out.add(ref.acl ? ', 1) = 1' : ' = 1');
}

/** Writes whether a field of a deleted record is visible in every record of its table. */
function writeVisible(out: SqlWriter, field: FieldRef | null, hidden: ReadableTable['hidden']): void {
  if (field === null || hidden.size === 0) {
    out.add('true');
    return;
  }
  if (typeof field === 'string') {
    out.add(String(!hidden.has(field)));
    return;
  }
  out.add('(true');
  for (const name of hidden.keys()) {
    out.add(' AND ');
    field();
    out.add(' <> ').bind(name);
  }
  out.add(')');
}
