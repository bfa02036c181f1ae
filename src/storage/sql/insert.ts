import type { Field, TableSchema } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import type { Storage, StoredValue } from '../../values/type.ts';
import type { Mutation } from '../port.ts';
import type { Companion, Dialect } from './dialect.ts';
import { SqlWriter, type Statement } from './writer.ts';

/** Insert statements that a table keeps: most of its records come with the same few sets of fields. */
const SHAPES_KEPT = 16;

/** The insert of one set of fields in one order. */
interface Shape {
  readonly dialect: Dialect;
  readonly fields: readonly Field[];
  readonly storages: readonly Storage[];
  /** Columns that go along with a field's, after all others. */
  readonly companions: readonly { readonly at: number; readonly of: Companion['of'] }[];
  readonly text: string;
}

/** By table; a change of the schema makes a new table, so shapes go with the fields that they name. Last used first. */
const shapes = new WeakMap<TableSchema, Shape[]>();

/** Adds a record. */
export function compileInsert({ table, values }: Extract<Mutation, { kind: 'insert' }>, dialect: Dialect): Statement {
  const { text, storages, companions } = shapeOf(table, values, dialect);
  const params = new Array<StoredValue>(values.length);
  for (let at = 0; at < values.length; at++)
    params[at] = dialect.toColumn(storages[at] as Storage, (values[at] as readonly [Field, StoredValue])[1]);
  for (const { at, of } of companions) params.push(of((values[at] as readonly [Field, StoredValue])[1]));
  return { text, params };
}

type Values = ReadonlyArray<readonly [Field, StoredValue]>;

function shapeOf(table: TableSchema, values: Values, dialect: Dialect): Shape {
  const known = shapes.get(table) ?? [];
  if (known.length === 0) shapes.set(table, known);
  const at = known.findIndex((shape) => shape.dialect === dialect && fits(shape, values));
  const shape = at < 0 ? newShape(table, values, dialect) : (known[at] as Shape);
  if (at !== 0) {
    if (at > 0) known.splice(at, 1);
    known.unshift(shape);
    if (known.length > SHAPES_KEPT) known.pop();
  }
  return shape;
}

function fits({ fields }: Shape, values: Values): boolean {
  if (fields.length !== values.length) return false;
  for (let at = 0; at < fields.length; at++) if (fields[at] !== values[at]?.[0]) return false;
  return true;
}

function newShape(table: TableSchema, values: Values, dialect: Dialect): Shape {
  const fields = values.map(([field]) => field);
  const columns = fields.map(({ column }) => column);
  const companions: { at: number; of: Companion['of'] }[] = [];
  fields.forEach((field, at) => {
    const companion = dialect.companion(table, field);
    if (!companion) return;
    columns.push(companion.column);
    companions.push({ at, of: companion.of });
  });
  const out = new SqlWriter(dialect).add('INSERT INTO ').table(table.sqlName).add(' (');
  columns.forEach((column, index) => {
    out.add(index > 0 ? ', ' : '').name(column);
  });
  out.add(') VALUES (');
  columns.forEach((_, index) => {
    out.add(index > 0 ? ', ' : '').bind(null);
  });
  return { dialect, fields, storages: fields.map(storageOf), companions, text: out.add(')').text };
}
