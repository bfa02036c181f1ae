import type { Include, Selection } from '../../query/selection.ts';
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

/** The shape of a selection's rows; `expanded` for records that an include puts in place of a Pointer. */
export function rowShape(selection: Selection, expanded: boolean): RowShape {
  const columns = selection.fields.map((field) => columnShape(field, selection.paths?.get(field.name)));
  if ('withScore' in selection && selection.withScore === true) columns.push({ name: 'score', storage: 'number' });
  return expanded ? { expandedClass: selection.table.className, columns } : { columns };
}

/** The fields of a selection that have a column in its rows, in order. */
export function rowFields(selection: Selection): Field[] {
  return selection.fields.filter((field) => field.type !== 'Relation');
}

/** Where in the rows each include finds the value to expand; includes of fields that are not selected are passed over. */
export function includePositions(selection: Selection): { include: Include; position: number }[] {
  const fields = rowFields(selection);
  return selection.includes
    .map((include) => ({ include, position: fields.findIndex((field) => field.name === include.field.name) }))
    .filter(({ position }) => position >= 0);
}
