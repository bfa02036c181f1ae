import type { Field, TableSchema } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import type { Storage, StoredValue } from '../../values/types/type.ts';
import type { InsertSource, Mutation } from '../port.ts';
import type { Companion, Dialect } from './dialect.ts';
import { SqlWriter, type Statement } from './sql-writer.ts';

type Insert = Extract<Mutation, { kind: 'insert' }>;

/** Insert statements cached per table. Most records of a table come with the same few sets of fields. */
const MAX_CACHED_SHAPES = 16;

/** How the values of an insert map to columns. */
interface Columns {
  readonly storages: readonly Storage[];
  /** Companion columns, which follow all others. */
  readonly companions: readonly { readonly at: number; readonly of: Companion['of'] }[];
}

/** A compiled insert for one set of fields in one order. */
interface Shape extends Columns {
  readonly dialect: Dialect;
  readonly fields: readonly Field[];
  readonly source: InsertSource | undefined;
  readonly text: string;
}

/** By table. A schema change creates new table objects, so a cached shape never outlives its fields. Most recently used first. */
const shapes = new WeakMap<TableSchema, Shape[]>();

/** Compiles the statement that inserts a record. */
export function compileInsert(insert: Insert, dialect: Dialect): Statement {
  const shape = shapeOf(insert, dialect);
  const params = paramsOf(shape, insert.values, dialect);
  if (insert.source) params.push(insert.source.objectId);
  return { text: shape.text, params };
}

function paramsOf({ storages, companions }: Columns, values: Insert['values'], dialect: Dialect): StoredValue[] {
  const params = new Array<StoredValue>(values.length);
  for (let at = 0; at < values.length; at++)
    params[at] = dialect.toColumn(storages[at] as Storage, (values[at] as readonly [Field, StoredValue])[1]);
  for (const { at, of } of companions) params.push(of((values[at] as readonly [Field, StoredValue])[1]));
  return params;
}

/**
 * Writes an insert that is folded into the statement of another step: it inserts a record for each row that the step returns.
 * @param rows the name of the step's rows
 * @param taken columns of these rows: what the insert copies, or its snapshot
 */
export function writeFoldedInsert(out: SqlWriter, insert: Insert, rows: string, taken: readonly string[]): void {
  const columns = columnsOf(insert.table, fieldsOf(insert), out.dialect);
  writeColumns(out, insert, columns.names);
  out.add(' SELECT ');
  paramsOf(columns, insert.values, out.dialect).forEach((value, at) => {
    out.add(at > 0 ? ', ' : '').bind(value);
  });
  for (const column of taken) out.add(', ').name(column);
  out.add(` FROM ${rows}`);
}

const fieldsOf = ({ values }: Insert): Field[] => values.map(([field]) => field);

function shapeOf(insert: Insert, dialect: Dialect): Shape {
  const known = shapes.get(insert.table) ?? [];
  if (known.length === 0) shapes.set(insert.table, known);
  const at = known.findIndex((shape) => shape.dialect === dialect && fits(shape, insert));
  const shape = at < 0 ? newShape(insert, dialect) : (known[at] as Shape);
  if (at !== 0) {
    if (at > 0) known.splice(at, 1);
    known.unshift(shape);
    if (known.length > MAX_CACHED_SHAPES) known.pop();
  }
  return shape;
}

function fits(shape: Shape, insert: Insert): boolean {
  const { fields } = shape;
  const { values } = insert;
  if (fields.length !== values.length || !isSameSource(shape.source, insert.source)) return false;
  for (let at = 0; at < fields.length; at++) if (fields[at] !== values[at]?.[0]) return false;
  return true;
}

function isSameSource(a: InsertSource | undefined, b: InsertSource | undefined): boolean {
  return a?.from === b?.from && a?.fields === b?.fields && snapshotColumn(a) === snapshotColumn(b);
}

const snapshotColumn = (source: InsertSource | undefined): Field | undefined =>
  source?.kind === 'snapshot' ? source.to : undefined;

function newShape(insert: Insert, dialect: Dialect): Shape {
  const { table, source } = insert;
  const fields = fieldsOf(insert);
  const { names, storages, companions } = columnsOf(table, fields, dialect);
  const out = new SqlWriter(dialect);
  writeColumns(out, insert, names);
  out.add(source ? ' SELECT ' : ' VALUES (');
  names.forEach((_, index) => {
    out.add(index > 0 ? ', ' : '').bind(null);
  });
  const shape = { dialect, fields, storages, companions, source };
  if (!source) return { ...shape, text: out.add(')').text };
  writeSource(out, source);
  return { ...shape, text: out.text };
}

/** Writes the values that an insert takes from another record, and the condition that finds the record; its id is bound last. */
function writeSource(out: SqlWriter, source: InsertSource): void {
  const writeRecord = () =>
    out.add(' FROM ').table(source.from.sqlName).add(' AS r WHERE ').column('r', 'objectId').add(' = ').bind(null);
  if (source.kind === 'copy') {
    for (const [, from] of source.fields) out.add(', ').column('r', from.column);
    writeRecord();
    return;
  }
  if (!out.dialect.snapshot) throw new Error('this database takes snapshots before the statement');
  // The row lock keeps the snapshot true until the commit. It stands in a sub-query, since a coordinator takes none in INSERT … SELECT itself.
  out.dialect.snapshot(out.add(', s.snapshot FROM (SELECT '), 'r', source.fields);
  out.add(' AS snapshot');
  writeRecord();
  out.add(' FOR UPDATE OF r) AS s');
}

function columnsOf(table: TableSchema, fields: readonly Field[], dialect: Dialect): Columns & { names: string[] } {
  const names = fields.map(({ column }) => column);
  const companions: { at: number; of: Companion['of'] }[] = [];
  fields.forEach((field, at) => {
    const companion = dialect.companion(table, field);
    if (!companion) return;
    names.push(companion.column);
    companions.push({ at, of: companion.of });
  });
  return { names, storages: fields.map(storageOf), companions };
}

function writeColumns(out: SqlWriter, { table, source }: Insert, names: readonly string[]): void {
  out.add('INSERT INTO ').table(table.sqlName).add(' (');
  names.forEach((name, at) => {
    out.add(at > 0 ? ', ' : '').name(name);
  });
  if (source?.kind === 'snapshot') out.add(', ').name(source.to.column);
  else for (const [to] of source?.fields ?? []) out.add(', ').name(to.column);
  out.add(')');
}
