import type { Include, Query, Selection } from '../../query/selection.ts';
import type { Field } from '../../schema/model.ts';
import type { ColumnShape, RowShape } from '../../values/encode.ts';
import { storageOf } from '../../values/index.ts';

/** How a field is written in answers: default fields have forms of their own (docs/decisions.md). */
export function columnShape(field: Field, paths?: readonly (readonly string[])[]): ColumnShape {
  return {
    name: field.name,
    storage: formOf(field),
    ...(field.targetClass === undefined ? {} : { targetClass: field.targetClass }),
    ...(paths === undefined ? {} : { paths }),
  };
}

function formOf(field: Field): ColumnShape['storage'] {
  if (field.name === 'createdAt' || field.name === 'updatedAt') return 'instant';
  return field.type === 'ACL' ? 'acl' : storageOf(field);
}

const plainShapes = new WeakMap<readonly Field[], RowShape>();

/** The shape of a selection's rows; `expanded` for records that an include puts in place of a Pointer. */
export function rowShape(selection: Selection, expanded: boolean): RowShape {
  if (expanded || isScored(selection) || selection.paths || selection.shownIn) return newShape(selection, expanded);
  // Whole records of a table are read by many selections, one for each caller, with one list of fields.
  let shape = plainShapes.get(selection.fields);
  if (!shape) {
    shape = newShape(selection, false);
    plainShapes.set(selection.fields, shape);
  }
  return shape;
}

function isScored(selection: Selection | Query): boolean {
  return 'withScore' in selection && selection.withScore;
}

function newShape(selection: Selection, expanded: boolean): RowShape {
  const columns = selection.fields.map((field): ColumnShape => {
    if (inRows(field, selection) && field.type === 'Relation') return { name: field.name, storage: 'json' };
    return columnShape(field, selection.paths?.get(field.name));
  });
  if (isScored(selection)) columns.push({ name: 'score', storage: 'number' });
  return expanded ? { expandedClass: selection.table.className, columns } : { columns };
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
