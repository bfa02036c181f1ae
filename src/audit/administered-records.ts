import { type ActFacts, flagValue, withoutSecretValues } from '../acts/index.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import type { WriteEvent } from '../records/index.ts';
import { isOperator } from '../values/index.ts';

/** A table whose records are administered: what of them is in the log, and how. */
interface AdministeredTable {
  readonly act: ActFacts['act'];
  /** The fields that count. */
  readonly fields: readonly string[];
  /** Further fields whose writes count, and whose values are not shown. */
  readonly unshown?: readonly string[];
  /** Returns what a write says beyond its fields. */
  readonly also?: (event: WriteEvent) => JsonObject;
  /** Names the record: its objectId if left out. */
  readonly nameField?: string;
  /** Returns a value as the log keeps it. @param name the record's, by `nameField` */
  readonly shown?: (value: JsonValue, field: string, name: string) => JsonValue;
}

/** Never the password, nor what it was. Reference: audit.md#log-of-administrators. */
const users: AdministeredTable = {
  act: 'users',
  fields: ['username', 'email', 'active', 'isPortalUser', 'mcpPermissions'],
  unshown: ['password'],
  also: ({ event, seen }) => (event === 'update' && seen && Object.hasOwn(seen.asked, 'password') ? { passwordSet: true } : {}),
};

const roles: AdministeredTable = {
  act: 'roles',
  fields: ['name'],
  nameField: 'name',
  also: ({ sent }) => {
    const changes = ['users', 'roles'].flatMap((relation): [string, JsonValue][] => {
      const change = membersOf(own(sent, relation));
      return change ? [[relation, change]] : [];
    });
    return Object.fromEntries(changes);
  },
};

const flags: AdministeredTable = {
  act: 'configuration',
  fields: ['Name', 'Value'],
  nameField: 'Name',
  shown: (value, field, name) => (field === 'Value' ? flagValue(name, value) : value),
};

const triggers: AdministeredTable = {
  act: 'triggers',
  fields: ['Name', 'table', 'events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active'],
  shown: (value) => withoutSecretValues(value),
};

const tables: ReadonlyMap<string, AdministeredTable> = new Map([
  ['_User', users],
  ['_Role', roles],
  ['Config', flags],
  ['_Trigger', triggers],
]);

/** What is read of a record before it is written: one array for each table. */
const read: ReadonlyMap<string, readonly string[]> = new Map(
  [...tables].map(([className, { fields }]) => [className, [...fields, 'updatedAt']]),
);

/** Whether writes of a table's records are acts of administration. */
export const isAdministered = (className: string): boolean => tables.has(className);

/** Returns the fields of a record to read before a write; `null` if its act, if it is one, does not depend on them. */
export function fieldsToRead(className: string, action: 'update' | 'remove', sent: JsonObject): readonly string[] | null {
  const table = tables.get(className);
  if (!table) return null;
  const isSent = (name: string) => Object.hasOwn(sent, name);
  const { fields, unshown = [], nameField } = table;
  const isTold = action === 'remove' || nameField !== undefined || fields.some(isSent) || unshown.some(isSent);
  return isTold ? (read.get(className) ?? null) : null;
}

/** Returns the act that a write of a record is; `null` if it changes nothing that counts. */
export function actOf(event: WriteEvent): ActFacts | null {
  const table = tables.get(event.table.className);
  const { seen } = event;
  if (!table) return null;
  const { act, fields, nameField, shown = (value) => value, also = () => ({}) } = table;
  const earlier = seen?.before ?? null;
  const sent = event.sent;
  const present = (name: string): JsonValue => setBy(own(sent, name));
  const recordName = nameField && text((earlier && own(earlier, nameField)) ?? present(nameField));
  const subject = recordName || event.objectId;
  const side = (values: readonly (readonly [string, JsonValue])[]): JsonObject =>
    Object.fromEntries(values.map(([name, value]) => [name, shown(value, name, subject)]));
  if (event.event === 'delete') return { act, subject, before: side(held(earlier, fields)) };
  if (event.event === 'create') {
    const made = fields.flatMap((name) => (Object.hasOwn(sent, name) ? [[name, present(name)] as const] : []));
    return { act, subject, after: { ...side(made), ...also(event) } };
  }
  const changed = fields.filter((name) => {
    const was = (earlier && own(earlier, name)) ?? null;
    return Object.hasOwn(sent, name) && canonicalJson(present(name)) !== canonicalJson(was);
  });
  const further = also(event);
  if (changed.length + Object.keys(further).length === 0) return null;
  return {
    act,
    subject,
    before: side(held(earlier, changed)),
    after: { ...side(changed.map((name) => [name, present(name)])), ...further },
  };
}

/** The values of a record, without those that it does not have. */
const held = (record: JsonObject | null, fields: readonly string[]): [string, JsonValue][] =>
  fields.flatMap((name): [string, JsonValue][] => {
    const value = (record && own(record, name)) ?? null;
    return value === null ? [] : [[name, value]];
  });

/** A field operator stands as it was sent, except one that deletes. */
const setBy = (sent: JsonValue | undefined): JsonValue => {
  const value = sent ?? null;
  return isOperator(value) && own(value, '__op') === 'Delete' ? null : value;
};

const text = (value: JsonValue): string => (typeof value === 'string' ? value : '');

/** Returns the members that an operator adds to a Relation and removes from it; `null` if it does neither. */
function membersOf(sent: JsonValue | undefined): JsonObject | null {
  const added: JsonValue[] = [];
  const removed: JsonValue[] = [];
  const collect = (value: JsonValue | undefined): void => {
    if (value === undefined || !isOperator(value)) return;
    const op = own(value, '__op');
    if (op === 'Batch') {
      const ops = own(value, 'ops');
      if (Array.isArray(ops)) ops.forEach(collect);
    }
    if (op === 'AddRelation') added.push(...idsOf(own(value, 'objects')));
    if (op === 'RemoveRelation') removed.push(...idsOf(own(value, 'objects')));
    if (op === 'Delete') removed.push('all');
  };
  collect(sent);
  if (added.length + removed.length === 0) return null;
  return { ...(added.length > 0 && { added }), ...(removed.length > 0 && { removed }) };
}

const idsOf = (objects: JsonValue | undefined): JsonValue[] =>
  Array.isArray(objects) ? objects.flatMap((one) => (isJsonObject(one) ? (own(one, 'objectId') ?? []) : [])) : [];
