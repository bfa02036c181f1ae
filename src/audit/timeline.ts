import { actorId, holdsKey } from '../access/index.ts';
import { truncate, withoutCredentials, withoutSecrets } from '../kernel/header-text.ts';
import { claimsFunction, type WriteEvent, type WriteObserver } from '../records/index.ts';
import { presentName } from '../schema/former-names.ts';
import { type Field, type FieldType, rootOf, type Schema, type TableSchema } from '../schema/model.ts';
import { causeField, isGuarding, isHidden, isLog, secretFieldsOf } from '../schema/system-tables.ts';
import { type Column, ownColumns, ownValues } from '../storage/log-table.ts';
import type { Mutation } from '../storage/port.ts';
import { fieldsText, type StoredValue } from '../values/index.ts';

const className = '_Timeline';

/** Maximum length of a page's address in a row, in characters. */
const MAX_REFERER_LENGTH = 8_000;

/** The columns of a row, in the order of its values. */
const columns: readonly Column[] = [
  ...ownColumns,
  ['event', 'String'],
  ['objectClass', 'String'],
  ['objectIdValue', 'String'],
  ['user', 'Pointer'],
  ['Last', 'Boolean'],
  ['Referer', 'String'],
  ['data', 'Object'],
];

const none: readonly Mutation[] = [];

/**
 * Keeps the timeline: if a table has its timeline on, each write of a record adds a row to `_Timeline` in the same commit.
 * Reference: audit.md#timeline.
 */
export const timeline: WriteObserver = {
  plan(event, schema) {
    const rows = rowsFor(event, schema);
    if (!rows) return {};
    return event.event === 'delete'
      ? { before: [insertOf(event, rows)], after: stepsOf(event, rows) }
      : { after: stepsOf(event, rows) };
  },
};

function rowsFor({ table, flags }: WriteEvent, schema: Schema): Rows | null {
  return table.timeline === undefined || flags.timeline ? null : rowsOf(table, schema);
}

/** How rows for one table's records are laid out in `_Timeline`. */
interface Rows {
  readonly timeline: TableSchema;
  /** The fields of `columns` that the timeline has, with their positions. */
  readonly own: ReadonlyArray<readonly [Field, at: number]>;
  /** Index columns: Pointers that both tables have. */
  readonly shared: ReadonlyArray<readonly [to: Field, from: Field]>;
  /** For a deletion, the ACL copied from the record, which decides who may see the row. `null` if one of the tables has no ACL. */
  readonly acl: ReadonlyArray<readonly [to: Field, from: Field]> | null;
  /** The fields that identify a record, and the flag of its newest row; `null` if the timeline lacks one of them. */
  readonly last: { readonly objectClass: Field; readonly objectIdValue: Field; readonly mark: Field } | null;
}

/** Layouts by the table of the records; `rows` is `null` if the table has no timeline rows. Valid as long as both table objects are current. */
const layouts = new WeakMap<TableSchema, { readonly timeline: TableSchema | undefined; readonly rows: Rows | null }>();

function rowsOf(table: TableSchema, schema: Schema): Rows | null {
  const timeline = schema.tables.get(className);
  let found = layouts.get(table);
  if (found?.timeline !== timeline || !found) {
    const isKept = timeline !== undefined && !isLog(table.className) && !isHidden(table.className);
    found = { timeline, rows: isKept ? layOut(timeline, table) : null };
    layouts.set(table, found);
  }
  return found.rows;
}

function layOut(timeline: TableSchema, table: TableSchema): Rows {
  const fieldAt = (name: string, type: FieldType): Field | undefined => {
    const field = timeline.fields.get(name);
    const isFit = field?.type === type && (type !== 'Pointer' || field.targetClass === '_User');
    return isFit ? field : undefined;
  };
  const own = columns.flatMap(([name, type], at) => {
    const field = fieldAt(name, type);
    return field ? [[field, at] as const] : [];
  });
  const shared = [...timeline.fields.values()].flatMap((to) => {
    // A column keeps its name, which other tables share, if a table renames its field.
    const from = table.fields.get(presentName(table, to.name));
    const isShared = to.type === 'Pointer' && from?.type === 'Pointer' && to.targetClass === from.targetClass;
    return isShared && !isGuarding(className, to.name) ? [[to, from] as const] : [];
  });
  const [objectClass, objectIdValue] = [fieldAt('objectClass', 'String'), fieldAt('objectIdValue', 'String')];
  const mark = fieldAt('Last', 'Boolean');
  const [to, from] = [timeline.fields.get('ACL'), table.fields.get('ACL')];
  const acl = to?.type === 'ACL' && from?.type === 'ACL' ? [[to, from] as const] : null;
  return { timeline, own, shared, acl, last: objectClass && objectIdValue && mark ? { objectClass, objectIdValue, mark } : null };
}

function stepsOf(event: WriteEvent, rows: Rows): readonly Mutation[] {
  const { table, objectId } = event;
  // The row for a deletion is inserted before the record is deleted.
  const added = event.event === 'delete' ? none : [insertOf(event, rows)];
  // A new record has no earlier row; the row of a deletion does not take over the flag.
  if (event.event === 'create' || !rows.last) return added;
  const { objectClass, objectIdValue, mark } = rows.last;
  const holding = [
    [objectIdValue, objectId],
    [objectClass, table.className],
  ] as const;
  return [{ kind: 'unmark', table: rows.timeline, holding, mark }, ...added];
}

function insertOf(event: WriteEvent, { timeline, own, shared, acl }: Rows): Mutation {
  const given = valuesOf(event);
  const values = own.map(([field, at]) => [field, given[at] as StoredValue] as const);
  const insert = { kind: 'insert', table: timeline, isNote: true } as const;
  const { table, objectId, assignments } = event;
  if (event.event === 'delete')
    return acl ? { ...insert, values, source: { kind: 'copy', from: table, objectId, fields: acl } } : { ...insert, values };
  if (shared.length === 0) return { ...insert, values };
  if (event.event === 'update' && !shared.every(([, from]) => assignments.has(from.name)))
    return { ...insert, values, source: { kind: 'copy', from: table, objectId, fields: shared } };
  const pointers = shared.map(([to, from]) => {
    const assignment = assignments.get(from.name);
    return [to, assignment?.kind === 'set' ? assignment.value : null] as const;
  });
  return { ...insert, values: [...values, ...pointers] };
}

/** In the order of `columns`. A row of a delete has none of the last three (system-tables.md#_timeline). */
function valuesOf(event: WriteEvent): readonly StoredValue[] {
  const { table, objectId, principal, at } = event;
  const row = [...ownValues(at), event.event, table.className, objectId, actorId(principal)];
  return event.event === 'delete' ? [...row, null, null, null] : [...row, true, refererOf(event), dataOf(event)];
}

/** Returns the page that a session user wrote from; for a write with full rights only the name of a function (system-tables.md#_timeline). */
function refererOf({ principal, referer }: WriteEvent): string | null {
  if (referer === null) return null;
  if (holdsKey(principal)) return claimsFunction(referer) ? referer : null;
  return withoutCredentials(withoutSecrets(truncate(referer, MAX_REFERER_LENGTH)), []);
}

/**
 * Returns the fields as they were sent, as JSON text. If the action of a trigger wrote them, its id is included (system-tables.md#_syslogtriggers).
 */
function dataOf({ table, sent, cause }: WriteEvent): string {
  const secret = secretFieldsOf(table.className);
  if (secret.size === 0 && !cause) return fieldsText(sent);
  const visible = Object.entries(sent).filter(([name]) => !secret.has(rootOf(name)) && !(cause && name === causeField));
  if (cause) visible.push([causeField, cause.triggerId]);
  return fieldsText(Object.fromEntries(visible));
}
