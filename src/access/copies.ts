import type { FieldType, Schema, TableSchema } from '../schema/model.ts';
import { copyFields } from '../schema/system-tables.ts';
import { bothOf, type Mask, type Masks, type RowGuard, type SubjectNames } from './grant.ts';
import type { Principal } from './principal.ts';
import type { ReadableTable, ReadableTables } from './readable.ts';

/** A caller's rights to rows that hold copies of records' values (adr/0016). */
export interface CopiesRight {
  /** `null`: every row. */
  readonly rows: RowGuard | null;
  readonly masks: Masks;
}

/** Nothing is masked. */
export const unmasked: Masks = new Map();

const { className: CLASS, sources: SOURCES } = copyFields;

const none: RowGuard = { kind: 'any', guards: [] };
const everything: CopiesRight = { rows: null, masks: unmasked };

type Rule = (table: TableSchema, of: ReadableTables, principal: Principal) => CopiesRight;

/** By table: rows that the service itself fills with values of other records. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['_Timeline', timeline],
  ['_syslogTriggers', triggerLog],
  ['_Notification', notifications],
  ['Emails', mail],
]);

/** Whether the service copies values of other records into a table. */
export const holdsCopies = (className: string): boolean => rules.has(className);

/** Returns the rights of a caller with a session to a table with copies. @param of the tables that the caller may read */
export function copiesFor(principal: Principal, table: TableSchema, of: ReadableTables): CopiesRight {
  return rules.get(table.className)?.(table, of, principal) ?? everything;
}

/** Restricts what a caller may read of a table by the rights to its copies. */
export function withCopies(readable: ReadableTable, { rows, masks }: CopiesRight): ReadableTable {
  const hidden = new Map(readable.hidden);
  for (const [name, mask] of masks) hidden.set(name, mask.kind === 'visibleIn' ? mask.rows : null);
  // The sources of a deleted row are not known any more.
  return { ...readable, rows: bothOf(readable.rows, rows), hidden, seesDeleted: readable.seesDeleted && rows === null };
}

const has = ({ fields }: TableSchema, name: string, type: FieldType): boolean => fields.get(name)?.type === type;

/** Returns the timeline table of a schema if it records deletions with the ACL of the record, otherwise `null`. */
export function deletionsOf({ tables }: Schema): TableSchema | null {
  const table = tables.get('_Timeline');
  const noted = ['objectClass', 'objectIdValue', 'event'];
  return table && noted.every((name) => has(table, name, 'String')) && has(table, 'ACL', 'ACL') ? table : null;
}

const subject: SubjectNames = { className: 'objectClass', objectId: 'objectIdValue' };

/** A row is visible if its record is; `data` and the index columns lack fields hidden in the record. Rows without a class were written by hand. */
function timeline(table: TableSchema, of: ReadableTables): CopiesRight {
  if (!has(table, subject.className, 'String') || !has(table, subject.objectId, 'String')) return { rows: none, masks: unmasked };
  const rows = anyOf({ kind: 'oneOf', field: subject.className, values: [null] }, { kind: 'subject', names: subject, of });
  const masks = new Map<string, Mask>();
  if (hiding(of).length > 0 && table.fields.has('data')) masks.set('data', { kind: 'values', names: subject, of, rows: null });
  for (const { name, type } of table.fields.values()) {
    const classes = type === 'Pointer' ? hiding(of, name) : [];
    if (classes.length === 0 || own.has(name)) continue;
    const others: RowGuard = { kind: 'not', guard: { kind: 'oneOf', field: subject.className, values: classes } };
    masks.set(name, { kind: 'visibleIn', rows: anyOf(others, { kind: 'subject', names: subject, field: name, of }) });
  }
  return { rows, masks };
}

/** Pointers that belong to the timeline row itself, not to its record. */
const own: ReadonlySet<string> = new Set(['user', 'createdBy', 'updatedBy']);

/**
 * As for the timeline. Errors quote values in free text, so they are only shown if nothing of the record's table is hidden. Rows about a whole
 * run name no record; rows of earlier versions do not say whose values they have.
 */
function triggerLog(table: TableSchema, of: ReadableTables): CopiesRight {
  const names: SubjectNames = { className: CLASS, objectId: subject.objectId };
  if (!has(table, names.objectId, 'String')) return { rows: none, masks: unmasked };
  const aboutNone: RowGuard = { kind: 'oneOf', field: names.objectId, values: ['', null] };
  if (!has(table, CLASS, 'String'))
    return { rows: null, masks: new Map(['data', 'error'].map((name) => [name, { kind: 'visibleIn', rows: aboutNone }])) };
  const unknown: RowGuard = { kind: 'oneOf', field: CLASS, values: [null] };
  const rows = anyOf(aboutNone, unknown, { kind: 'subject', names, of });
  const notAmong = (classes: readonly (string | null)[]): RowGuard => {
    return { kind: 'not', guard: { kind: 'oneOf', field: CLASS, values: classes } };
  };
  const wholly = notAmong([null, ...hiding(of)]);
  return {
    rows,
    masks: new Map<string, Mask>([
      ['data', { kind: 'values', names, of, rows: notAmong([null]) }],
      ['error', { kind: 'visibleIn', rows: anyOf(aboutNone, bothOf(wholly, sources(table, of)) as RowGuard) }],
    ]),
  };
}

/** The addressee of a notification always sees the row; its content only if the addressee may read the sources. */
function notifications(table: TableSchema, of: ReadableTables, principal: Principal): CopiesRight {
  const rows = sources(table, of);
  if (!rows) return everything;
  const masks = new Map(['Content', 'Icon'].map((name): [string, Mask] => [name, { kind: 'visibleIn', rows }]));
  const userId = principal.kind === 'user' ? principal.userId : '';
  return { rows: anyOf({ kind: 'userFields', fields: ['User'], userId }, rows), masks };
}

function mail(table: TableSchema, of: ReadableTables): CopiesRight {
  return { rows: sources(table, of), masks: unmasked };
}

function sources(table: TableSchema, of: ReadableTables): RowGuard | null {
  return has(table, SOURCES, 'String') ? { kind: 'sources', field: SOURCES, of } : null;
}

/** Returns the classes of which something is hidden from the caller: this field, if one is given. */
function hiding({ tables }: ReadableTables, field?: string): string[] {
  return [...tables]
    .filter(([, { hidden }]) => (field === undefined ? hidden.size > 0 : hidden.has(field)))
    .map(([name]) => name);
}

const anyOf = (...guards: RowGuard[]): RowGuard => ({ kind: 'any', guards });
