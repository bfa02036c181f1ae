import { newRowId } from '../kernel/row-id.ts';
import type { FieldType } from '../schema/model.ts';
import type { StoredValue } from '../values/index.ts';

/** A column that a row of a log needs. */
export type Column = readonly [name: string, type: FieldType];

/** The columns that every row of a log begins with. */
export const ownColumns: readonly Column[] = [
  ['objectId', 'String'],
  ['createdAt', 'Date'],
  ['updatedAt', 'Date'],
  ['createdBy', 'Pointer'],
  ['updatedBy', 'Pointer'],
];

/**
 * Their values in a new row. SPEC "`_Timeline` fields": its author is always master.
 * @param at milliseconds since 1970
 * @param objectId of a row whose id has to be known before
 */
export const ownValues = (at: number, objectId = newRowId(at)): StoredValue[] => [objectId, at, at, 'master', 'master'];
