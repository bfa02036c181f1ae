import type { FileAddresses } from '../../config/index.ts';
import type { Include, Query, Selection } from '../../query/model/selection.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import { type ColumnShape, type RowShape, type RowWriter, rowWriter } from '../../values/rows/encode.ts';
import type { FileForm } from '../../values/types/file-text.ts';
import type { Mutation } from '../port.ts';

/** What writing a record needs and its row does not contain. */
export interface RowContext {
  /** Returns the present addresses of the system's files, as clients see them. */
  readonly addresses: () => FileAddresses;
}

/** Returns `Store.recordForm`. @param changes version of the schema; NaN if it is not known now */
export function recordForm(changes: number, { addresses }: RowContext): string | null {
  const { public: files, uploads } = addresses();
  return Number.isNaN(changes) ? null : `${changes} ${files} ${uploads}`;
}

/**
 * Returns the wire form of a field's column; some default fields have their own. Reference: records.md#system-fields.
 * @param idAt position of the objectId in the rows; it is first in those of a selection
 */
function columnShape(
  { className }: TableSchema,
  field: Field,
  { addresses }: RowContext,
  idAt: number,
  paths?: readonly (readonly string[])[],
): ColumnShape {
  const { name, type, targetClass } = field;
  if (type === 'File') return { name, storage: 'file', file: { address: addresses().public } };
  if (type === 'PrivateFile') return { name, storage: 'file', file: privateFile(className, name, idAt, addresses()) };
  return {
    name,
    storage: formOf(field),
    ...(targetClass === undefined ? {} : { targetClass }),
    ...(paths === undefined ? {} : { paths }),
  };
}

/** Returns the form of files that are read through their record. */
export function privateFile(className: string, fieldName: string, idAt: number, { uploads }: FileAddresses): FileForm {
  return { address: uploads, holder: { className, fieldName, idAt } };
}

function formOf(field: Field): ColumnShape['storage'] {
  if (field.name === 'createdAt' || field.name === 'updatedAt') return 'instant';
  return field.type === 'ACL' ? 'acl' : storageOf(field);
}

const plainShapes = new WeakMap<readonly Field[], RowShape>();

/** Returns the shape of a selection's rows. `expanded`: for records that an include puts in place of a Pointer. */
export function rowShape(selection: Selection, context: RowContext, expanded: boolean): RowShape {
  if (expanded || isScored(selection) || hasClassName(selection) || selection.paths || selection.visibleIn)
    return newShape(selection, context, expanded);
  // Whole records of a table are read through many selections, one per caller, with one list of fields.
  let shape = plainShapes.get(selection.fields);
  if (!shape) {
    shape = newShape(selection, context, false);
    plainShapes.set(selection.fields, shape);
  }
  return shape;
}

function isScored(selection: Selection | Query): boolean {
  return 'withScore' in selection && selection.withScore;
}

function hasClassName(selection: Selection | Query): boolean {
  return 'withClass' in selection && selection.withClass === true;
}

function newShape(selection: Selection, context: RowContext, expanded: boolean): RowShape {
  const { table, fields, paths } = selection;
  const columns = fields.map((field): ColumnShape => {
    if (inRows(field, selection) && field.type === 'Relation') return { name: field.name, storage: 'json' };
    return columnShape(table, field, context, 0, paths?.get(field.name));
  });
  if (isScored(selection)) columns.push({ name: 'score', storage: 'number' });
  if (expanded) return { expandedClass: table.className, columns };
  return hasClassName(selection) ? { outputClass: table.className, columns } : { columns };
}

/** How a record is written from its stored values alone. */
interface RecordShape {
  readonly table: TableSchema;
  readonly addresses: FileAddresses;
  readonly write: RowWriter;
  /** NULLs to append to the values. */
  readonly rest: readonly null[];
}

const recordShapes = new WeakMap<readonly Field[], RecordShape>();

/** Returns the JSON text of a record (`Reader.textOf`). */
export function recordText(
  table: TableSchema,
  fields: readonly Field[],
  values: readonly StoredValue[],
  context: RowContext,
): string {
  const addresses = context.addresses();
  let shape = recordShapes.get(fields);
  // The service's own address becomes known when it starts to listen; background work may run earlier.
  if (shape?.table !== table || shape.addresses.uploads !== addresses.uploads || shape.addresses.public !== addresses.public) {
    shape = recordShape(table, fields, addresses);
    recordShapes.set(fields, shape);
  }
  return shape.write(shape.rest.length > 0 ? [...values, ...shape.rest] : values);
}

function recordShape(table: TableSchema, fields: readonly Field[], addresses: FileAddresses): RecordShape {
  const relations = [...table.fields.values()].filter(({ type }) => type === 'Relation');
  const acl = table.fields.get('ACL');
  // Every record has an ACL on the wire, even if it is empty.
  const missing = acl && !fields.includes(acl) ? [acl] : [];
  const columns = [...fields, ...missing, ...relations].map((field) =>
    columnShape(table, field, { addresses: () => addresses }, 0),
  );
  return { table, addresses, write: rowWriter({ columns }), rest: missing.map(() => null) };
}

type Returning = Pick<Extract<Mutation, { kind: 'update' }>, 'table' | 'objectId' | 'returning'>;

/**
 * Returns the values that an update returns, as members of a JSON object, each after a comma.
 * @param values of the columns `returning`; further ones are ignored
 */
export function returnedMembers(
  { table, objectId, returning }: Returning,
  values: readonly unknown[],
  context: RowContext,
): string {
  const columns = returning.map((field) => columnShape(table, field, context, returning.length));
  const json = rowWriter({ columns })([...values.slice(0, returning.length), objectId]);
  return json === '{}' ? '' : `,${json.slice(1, -1)}`;
}

/** Returns the fields of a selection that have a column in its rows, in order. */
export function rowFields(selection: Selection): Field[] {
  return selection.fields.filter((field) => inRows(field, selection));
}

/** A Relation's text is the same in all records, so it is not part of the rows, unless only some records show it. */
function inRows(field: Field, { visibleIn }: Selection): boolean {
  return field.type !== 'Relation' || visibleIn?.has(field.name) === true;
}

/** Returns the JSON text of a Relation field in a record. */
export function relationText({ targetClass }: Field): string {
  return JSON.stringify({ __type: 'Relation', className: targetClass });
}

/** Returns for each include the position in the rows of the value to expand. Includes of fields that are not selected are skipped. */
export function includePositions(selection: Selection): { include: Include; position: number }[] {
  const fields = rowFields(selection);
  return selection.includes
    .map((include) => ({ include, position: fields.findIndex((field) => field.name === include.field.name) }))
    .filter(({ position }) => position >= 0);
}
