import type { FileAddresses } from '../../config/index.ts';
import type { Include, Query, Selection } from '../../query/model/selection.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import { type ColumnShape, type RowShape, type RowWriter, rowWriter } from '../../values/rows/encode.ts';
import type { FileForm } from '../../values/types/file-text.ts';
import type { Mutation } from '../port.ts';

/** What of a system's records is not in them. */
export interface RowContext {
  /** Where its files are, as clients see them now. */
  readonly addresses: () => FileAddresses;
}

/**
 * How a field is written in answers: default fields have forms of their own (docs/decisions.md).
 * @param idAt where in the rows the objectId is: first in those of a selection
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

/** How files are written that are read through their record. */
export function privateFile(className: string, fieldName: string, idAt: number, { uploads }: FileAddresses): FileForm {
  return { address: uploads, holder: { className, fieldName, idAt } };
}

function formOf(field: Field): ColumnShape['storage'] {
  if (field.name === 'createdAt' || field.name === 'updatedAt') return 'instant';
  return field.type === 'ACL' ? 'acl' : storageOf(field);
}

const plainShapes = new WeakMap<readonly Field[], RowShape>();

/** The shape of a selection's rows; `expanded` for records that an include puts in place of a Pointer. */
export function rowShape(selection: Selection, context: RowContext, expanded: boolean): RowShape {
  if (expanded || isScored(selection) || tellsClass(selection) || selection.paths || selection.shownIn)
    return newShape(selection, context, expanded);
  // Whole records of a table are read by many selections, one for each caller, with one list of fields.
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

function tellsClass(selection: Selection | Query): boolean {
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
  return tellsClass(selection) ? { toldClass: table.className, columns } : { columns };
}

/** How a record is written from its stored values alone. */
interface RecordShape {
  readonly table: TableSchema;
  readonly addresses: FileAddresses;
  readonly write: RowWriter;
  /** What comes after the values. */
  readonly rest: readonly null[];
}

const recordShapes = new WeakMap<readonly Field[], RecordShape>();

/** JSON text of a record (`Reader.textOf`). */
export function recordText(
  table: TableSchema,
  fields: readonly Field[],
  values: readonly StoredValue[],
  context: RowContext,
): string {
  const addresses = context.addresses();
  let shape = recordShapes.get(fields);
  // Where the service is becomes known when it listens; what runs in the background may come before.
  if (shape?.table !== table || shape.addresses.uploads !== addresses.uploads || shape.addresses.public !== addresses.public) {
    shape = recordShape(table, fields, addresses);
    recordShapes.set(fields, shape);
  }
  return shape.write(shape.rest.length > 0 ? [...values, ...shape.rest] : values);
}

function recordShape(table: TableSchema, fields: readonly Field[], addresses: FileAddresses): RecordShape {
  const relations = [...table.fields.values()].filter(({ type }) => type === 'Relation');
  const acl = table.fields.get('ACL');
  // Every record is shown with an ACL, if an empty one.
  const missing = acl && !fields.includes(acl) ? [acl] : [];
  const columns = [...fields, ...missing, ...relations].map((field) =>
    columnShape(table, field, { addresses: () => addresses }, 0),
  );
  return { table, addresses, write: rowWriter({ columns }), rest: missing.map(() => null) };
}

type Returning = Pick<Extract<Mutation, { kind: 'update' }>, 'table' | 'objectId' | 'returning'>;

/**
 * What an update returns, as members of a JSON object, each after a comma.
 * @param values of the columns `returning`; what follows them is passed over
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

/** The fields of a selection that have a column in its rows, in order. */
export function rowFields(selection: Selection): Field[] {
  return selection.fields.filter((field) => inRows(field, selection));
}

/** A Relation is the same in all records, unless only some show it: then their rows hold its text. */
function inRows(field: Field, { shownIn }: Selection): boolean {
  return field.type !== 'Relation' || shownIn?.has(field.name) === true;
}

/** JSON text of a Relation field in a record. */
export function relationText({ targetClass }: Field): string {
  return JSON.stringify({ __type: 'Relation', className: targetClass });
}

/** Where in the rows each include finds the value to expand; includes of fields that are not selected are passed over. */
export function includePositions(selection: Selection): { include: Include; position: number }[] {
  const fields = rowFields(selection);
  return selection.includes
    .map((include) => ({ include, position: fields.findIndex((field) => field.name === include.field.name) }))
    .filter(({ position }) => position >= 0);
}
