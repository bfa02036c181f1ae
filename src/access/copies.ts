import type { FieldType, Schema, TableSchema } from '../schema/model.ts';
import { copyFields } from '../schema/system-tables.ts';
import { bothOf, type Mask, type Masks, type RowGuard, type SubjectNames } from './grant.ts';
import type { Principal } from './principal.ts';
import type { ReadableTable, ReadableTables } from './readable.ts';

/** What a caller gets of rows that hold copies of records' values (docs/adr/0016). */
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

/** What a caller with a session gets of a table with copies. @param of what he may read himself */
export function copiesFor(principal: Principal, table: TableSchema, of: ReadableTables): CopiesRight {
  return rules.get(table.className)?.(table, of, principal) ?? everything;
}

/** What a caller may read of a table, its copies taken into account. */
export function withCopies(readable: ReadableTable, { rows, masks }: CopiesRight): ReadableTable {
  const hidden = new Map(readable.hidden);
  for (const [name, mask] of masks) hidden.set(name, mask.kind === 'shownIn' ? mask.rows : null);
  // Of a row that is gone nothing tells any more what it was made of.
  return { ...readable, rows: bothOf(readable.rows, rows), hidden, hearsOfGone: readable.hearsOfGone && rows === null };
}

const has = ({ fields }: TableSchema, name: string, type: FieldType): boolean => fields.get(name)?.type === type;

/** The timeline of a schema, where it can note a deletion with the ACL of the record. */
export function deletionsOf({ tables }: Schema): TableSchema | null {
  const table = tables.get('_Timeline');
  const noted = ['objectClass', 'objectIdValue', 'event'];
  return table && noted.every((name) => has(table, name, 'String')) && has(table, 'ACL', 'ACL') ? table : null;
}

const subject: SubjectNames = { className: 'objectClass', objectId: 'objectIdValue' };

/** A row shows where its record does; `data` and the index columns without what is hidden of the record. Rows about none were made by hand. */
function timeline(table: TableSchema, of: ReadableTables): CopiesRight {
  if (!has(table, subject.className, 'String') || !has(table, subject.objectId, 'String')) return { rows: none, masks: unmasked };
  const rows = anyOf({ kind: 'oneOf', field: subject.className, values: [null] }, { kind: 'subject', names: subject, of });
  const masks = new Map<string, Mask>();
  if (hiding(of).length > 0 && table.fields.has('data')) masks.set('data', { kind: 'values', names: subject, of, rows: null });
  for (const { name, type } of table.fields.values()) {
    const classes = type === 'Pointer' ? hiding(of, name) : [];
    if (classes.length === 0 || own.has(name)) continue;
    const others: RowGuard = { kind: 'not', guard: { kind: 'oneOf', field: subject.className, values: classes } };
    masks.set(name, { kind: 'shownIn', rows: anyOf(others, { kind: 'subject', names: subject, field: name, of }) });
  }
  return { rows, masks };
}

/** Pointers of a row of the timeline that are its own. */
const own: ReadonlySet<string> = new Set(['user', 'createdBy', 'updatedBy']);

/**
 * As the timeline. Errors tell of values in free text: they show where nothing of the record's table is hidden. Rows of a whole run are about
 * no record; of those of earlier versions nothing tells whose values they have.
 */
function triggerLog(table: TableSchema, of: ReadableTables): CopiesRight {
  const names: SubjectNames = { className: CLASS, objectId: subject.objectId };
  if (!has(table, names.objectId, 'String')) return { rows: none, masks: unmasked };
  const aboutNone: RowGuard = { kind: 'oneOf', field: names.objectId, values: ['', null] };
  if (!has(table, CLASS, 'String'))
    return { rows: null, masks: new Map(['data', 'error'].map((name) => [name, { kind: 'shownIn', rows: aboutNone }])) };
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
      ['error', { kind: 'shownIn', rows: anyOf(aboutNone, bothOf(wholly, sources(table, of)) as RowGuard) }],
    ]),
  };
}

/** Whom it is for keeps a notification; what it says he reads where he may read what it says. */
function notifications(table: TableSchema, of: ReadableTables, principal: Principal): CopiesRight {
  const rows = sources(table, of);
  if (!rows) return everything;
  const masks = new Map(['Content', 'Icon'].map((name): [string, Mask] => [name, { kind: 'shownIn', rows }]));
  const userId = principal.kind === 'user' ? principal.userId : '';
  return { rows: anyOf({ kind: 'userFields', fields: ['User'], userId }, rows), masks };
}

function mail(table: TableSchema, of: ReadableTables): CopiesRight {
  return { rows: sources(table, of), masks: unmasked };
}

function sources(table: TableSchema, of: ReadableTables): RowGuard | null {
  return has(table, SOURCES, 'String') ? { kind: 'sources', field: SOURCES, of } : null;
}

/** The classes of which something is hidden from the caller: this field, where one is named. */
function hiding({ tables }: ReadableTables, field?: string): string[] {
  return [...tables]
    .filter(([, { hidden }]) => (field === undefined ? hidden.size > 0 : hidden.has(field)))
    .map(([name]) => name);
}

const anyOf = (...guards: RowGuard[]): RowGuard => ({ kind: 'any', guards });
