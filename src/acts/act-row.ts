import type { Field, Schema } from '../schema/model.ts';
import { type Column, logTableOf, ownColumns, ownValues } from '../storage/log-table.ts';
import type { Mutation } from '../storage/port.ts';
import type { StoredValue } from '../values/index.ts';
import type { Act } from './act.ts';

/** The table of acts. Reference: system-tables.md#_adminlog. */
export const adminLog = '_AdminLog';

/** The columns of a row, in the order of its values. */
const columns: readonly Column[] = [
  ...ownColumns,
  ['act', 'String'],
  ['who', 'String'],
  ['subject', 'String'],
  ['before', 'Object'],
  ['after', 'Object'],
  ['requestId', 'String'],
];

const logOf = logTableOf(adminLog, columns);

/** Whether a system can take rows of acts; not a store that this version has not opened yet. */
export const takesActs = (schema: Schema): boolean => logOf(schema) !== null;

/** Returns the step that writes the row of an act; none if the system has no such table yet. */
export function insertAct(schema: Schema, act: Act): readonly Mutation[] {
  const log = logOf(schema);
  if (!log) return [];
  const values = valuesOf(act);
  return [
    {
      kind: 'insert',
      table: log.table,
      values: log.fields.map((field, at): [Field, StoredValue] => [field, values[at] as StoredValue]),
    },
  ];
}

/** In the order of `columns`. */
const valuesOf = ({ id, at, act, who, subject, before, after, requestId }: Act): readonly StoredValue[] => [
  ...ownValues(at, id),
  act,
  who,
  subject,
  before && JSON.stringify(before),
  after && JSON.stringify(after),
  requestId,
];
