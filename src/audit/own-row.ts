import type { FieldType } from '../schema/model.ts';
import type { StoredValue } from '../values/index.ts';
import { newRowId } from './row-id.ts';

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

/** Their values in a new row. SPEC "`_Timeline` fields": its author is always master. @param at milliseconds since 1970 */
export const ownValues = (at: number): StoredValue[] => [newRowId(at), at, at, 'master', 'master'];
