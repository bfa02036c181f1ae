import { type ActFacts, valueUnder } from '../acts/index.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import type { WriteEvent } from '../records/index.ts';
import { rootOf } from '../schema/model.ts';
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
  /**
   * Returns a value as the log keeps it.
   * @param place a field, or a place inside one: `Value.Payment`
   * @param names the record's by `nameField`, before the write and after it
   */
  readonly shown?: (value: JsonValue, place: string, names: readonly string[]) => JsonValue;
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
  shown: (value, place, names) => (rootOf(place) === 'Value' ? valueUnder([...names, ...place.split('.')], value) : value),
};

const triggers: AdministeredTable = {
  act: 'triggers',
  fields: ['Name', 'table', 'events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active'],
  shown: (value, place) => valueUnder(place.split('.').slice(1), value),
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
  const { fields, unshown = [], nameField } = table;
  const isTold =
    action === 'remove' ||
    nameField !== undefined ||
    Object.keys(sent).some((key) => fields.includes(rootOf(key)) || unshown.includes(key));
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
  const present = (place: string): JsonValue => setBy(own(sent, place));
  const names = nameField ? [earlier && own(earlier, nameField), present(nameField)].map(text).filter((name) => name !== '') : [];
  const [subject = event.objectId] = names;
  const side = (values: readonly (readonly [string, JsonValue])[]): JsonObject =>
    Object.fromEntries(values.map(([place, value]) => [place, shown(value, place, names)]));
  if (event.event === 'delete') return { act, subject, before: side(held(earlier, fields)) };
  const places = placesIn(sent, fields);
  if (event.event === 'create') {
    const made = places.map((place) => [place, present(place)] as const);
    return { act, subject, after: { ...side(made), ...also(event) } };
  }
  const changed = places.filter((place) => canonicalJson(present(place)) !== canonicalJson(valueAt(earlier, place)));
  const further = also(event);
  if (changed.length + Object.keys(further).length === 0) return null;
  return {
    act,
    subject,
    before: side(held(earlier, changed)),
    after: { ...side(changed.map((place) => [place, present(place)])), ...further },
  };
}

/** Returns the fields that a body sets, and the places inside them, in the order of the fields. */
const placesIn = (sent: JsonObject, fields: readonly string[]): string[] => {
  const places = Object.keys(sent);
  return fields.flatMap((name) => places.filter((place) => rootOf(place) === name));
};

/** The values of a record, without those that it does not have. */
const held = (record: JsonObject | null, places: readonly string[]): [string, JsonValue][] =>
  places.flatMap((place): [string, JsonValue][] => {
    const value = valueAt(record, place);
    return value === null ? [] : [[place, value]];
  });

/** Returns the value of a field, or of a place inside it; `null` if there is none. */
function valueAt(record: JsonObject | null, place: string): JsonValue {
  let value: JsonValue | undefined = record ?? undefined;
  for (const name of place.split('.'))
    value = isJsonObject(value) || Array.isArray(value) ? own(value as JsonObject, name) : undefined;
  return value ?? null;
}

/** A field operator stands as it was sent, except one that deletes. */
const setBy = (sent: JsonValue | undefined): JsonValue => {
  const value = sent ?? null;
  return isOperator(value) && own(value, '__op') === 'Delete' ? null : value;
};

/** Returns a text, also one that an operator sets. */
function text(value: JsonValue | undefined): string {
  const set = value !== undefined && isOperator(value) ? own(value, 'amount') : value;
  return typeof set === 'string' ? set : '';
}

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
