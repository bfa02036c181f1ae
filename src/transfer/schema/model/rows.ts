import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import type { NamedRow, RowPart } from './snapshot.ts';
import { byName, sorted } from './snapshot.ts';

/** How the records of a part are named and what of them is described. */
export interface RowKind {
  readonly part: RowPart;
  /** What one of them is called. */
  readonly what: 'role' | 'trigger' | 'report' | 'flag';
  readonly className: string;
  /** The field with the name. */
  readonly name: 'Name' | 'name';
  /** The fields of `NamedRow.body`, in the order in which they are written. */
  readonly fields: readonly string[];
}

export const rowKinds: { readonly [P in RowPart]: RowKind } = {
  roles: { part: 'roles', what: 'role', className: '_Role', name: 'name', fields: ['roles', 'ACL'] },
  triggers: {
    part: 'triggers',
    what: 'trigger',
    className: '_Trigger',
    name: 'Name',
    fields: ['events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active', 'ACL'],
  },
  reports: {
    part: 'reports',
    what: 'report',
    className: '_DynamicQueries',
    name: 'Name',
    fields: ['Description', 'keys', 'where', 'order', 'groupBy', 'Shared', 'View', 'ACL'],
  },
  config: { part: 'config', what: 'flag', className: 'Config', name: 'Name', fields: ['Value'] },
};

/**
 * Returns fields of a record in the one form in which they are compared: without empty ones and ids of actions, what is active by default said,
 * names sorted.
 */
export function normalBody(kind: RowKind, fields: JsonObject): JsonObject {
  const kept = kind.fields.flatMap((name): [string, JsonValue][] => {
    const value = own(fields, name) ?? (name === 'Active' ? true : null);
    if (value === null) return [];
    if (name === 'ACL') {
      const acl = isJsonObject(value) ? portableAcl(value) : {};
      // An empty one restricts nobody, like none.
      return Object.keys(acl).length > 0 ? [[name, acl]] : [];
    }
    return [[name, inOrder(name === 'actions' ? withoutIds(value) : value)]];
  });
  return Object.fromEntries(kept);
}

/** Sorts the keys of all objects. */
function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  return isJsonObject(value) ? Object.fromEntries(sorted(Object.entries(value)).map(([key, one]) => [key, inOrder(one)])) : value;
}

function withoutIds(actions: JsonValue): JsonValue {
  if (!Array.isArray(actions)) return actions;
  return actions.map((action) => {
    if (!isJsonObject(action)) return action;
    const { _id, Active, ...rest } = action;
    return { Active: Active ?? true, ...rest };
  });
}

/** Entries of users have no meaning elsewhere. What was for users alone is for keys alone there. */
function portableAcl(acl: JsonObject): JsonObject {
  const entries = Object.entries(acl);
  const portable = entries.filter(([entity]) => isPortable(entity));
  if (portable.length === 0 && entries.length > 0) return { '*': {} };
  return inOrder(Object.fromEntries(portable)) as JsonObject;
}

/** Whether an entity of an ACL means the same in every system. */
export const isPortable = (entity: string): boolean => entity === '*' || entity.startsWith('role:');

/** Sorts records by table, then by name, then by content: the order does not depend on when they were made. */
export function inRowOrder<R extends NamedRow>(rows: readonly R[]): R[] {
  const text = new Map(rows.map((row) => [row, JSON.stringify(row.body)]));
  return [...rows].sort(
    (a, b) => byName(a.table, b.table) || byName(a.name, b.name) || byName(text.get(a) as string, text.get(b) as string),
  );
}

/** Flags with a value other than a Boolean. */
const otherFlags: ReadonlyMap<string, 'string' | 'number'> = new Map([
  ['TimeZone', 'string'],
  ['Vat', 'number'],
] as const);

/** Flags whose `Value` may have further keys. */
const widerFlags: ReadonlySet<string> = new Set(['AcceptWebLeads']);

/**
 * Whether a row of `Config` is a flag: its value repeats its name with `true`, `false` or what else the service knows of the name, and has
 * nothing beside it that could be a secret. Reference: schema-as-code.md#config.
 */
export function isFlag(name: string, value: JsonValue | undefined): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const type = otherFlags.get(name) ?? 'boolean';
  return typeof own(value, name) === type && (Object.keys(value).length === 1 || widerFlags.has(name));
}
