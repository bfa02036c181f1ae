import { newObjectId } from '../../../kernel/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import type { RecordWrite } from '../../../records/index.ts';
import { fieldOf, type TableSchema } from '../../../schema/model.ts';
import type { Delta, LabelDelta, RowDelta } from '../diff/delta.ts';
import { rowName } from '../diff/describe.ts';
import { isPortable, normalBody } from '../model/rows.ts';
import { SnapshotFault, TABLE_ITSELF } from '../model/snapshot.ts';
import { DICTIONARY } from '../state/labels.ts';
import type { StoredRow } from '../state/rows.ts';
import type { SystemState } from '../state/system-state.ts';

/** A write, and what it is for. */
export interface NamedWrite {
  readonly step: string;
  readonly write: RecordWrite;
}

type Removals = Extract<RowDelta, { op: 'remove' }>;

/**
 * Returns the writes that make the records of a system those of a snapshot. They are made like those of any key, under the rules of their tables.
 * @throws SnapshotFault if a role names another one that neither side has
 */
export function rowWrites(delta: Delta, state: SystemState): NamedWrite[] {
  const roleIds = idsOfRoles(delta, state);
  const rows = delta.rows.filter((row): row is Exclude<RowDelta, Removals> => row.op !== 'remove');
  const removals = delta.rows.filter((row): row is Removals => row.op === 'remove');
  return [
    ...rows.map((row) => writeOf(row, state, roleIds)),
    ...delta.labels.flatMap(labelWrites),
    ...removals.map(
      ({ kind, found }): NamedWrite => ({
        step: rowName(kind.what, found),
        write: { kind: 'delete', className: kind.className, objectId: found.objectId, body: {} },
      }),
    ),
  ];
}

type RoleIds = ReadonlyMap<string, string>;

/** Returns the ids of all roles by name; new ones get theirs here, so that others can include them. */
function idsOfRoles({ rows }: Delta, state: SystemState): RoleIds {
  const ids = new Map((state.rows.get('roles') ?? []).map(({ name, objectId }) => [name, objectId]));
  for (const row of rows)
    if (row.kind.part === 'roles') {
      if (row.op === 'add') ids.set(row.wanted.name, newObjectId());
      if (row.op === 'remove') ids.delete(row.found.name);
    }
  return ids;
}

function writeOf(row: Exclude<RowDelta, Removals>, { references }: SystemState, roleIds: RoleIds): NamedWrite {
  const { kind, wanted } = row;
  const { className } = kind;
  const step = rowName(kind.what, wanted);
  const values = references.resolved(wanted.body) as JsonObject;
  if (row.op === 'add') {
    const { roles, ...others } = values;
    const body: JsonObject = {
      ...(wanted.name !== '' && { [kind.name]: wanted.name }),
      ...(wanted.table !== '' && { table: wanted.table }),
      ...others,
      ...(roles !== undefined && { roles: { __op: 'AddRelation', objects: rolePointers(wanted.name, namesIn(roles), roleIds) } }),
    };
    const objectId = kind.part === 'roles' ? roleIds.get(wanted.name) : undefined;
    return { step, write: { kind: 'create', className, body, ...(objectId !== undefined && { objectId }) } };
  }
  const { found } = row;
  // More than what is shown, if a rename changes the record too.
  const before = references.portable(normalBody(kind, found.stored)) as JsonObject;
  const differing = kind.fields.filter((name) => textAt(before, name) !== textAt(wanted.body, name));
  const changed = differing.map((name): [string, JsonValue] => {
    const value = own(values, name) ?? null;
    if (name === 'roles') return [name, rolesChange(wanted.name, namesIn(value), namesIn(found.body.roles), roleIds)];
    if (name === 'ACL') return [name, aclOf(value, found)];
    if (name === 'actions') return [name, withKnownIds(value, found)];
    return [name, value ?? { __op: 'Delete' }];
  });
  const body = Object.fromEntries(changed);
  return { step, write: { kind: 'update', className, objectId: found.objectId, body, onlyIf: isVersion(found.version) } };
}

const textAt = (body: JsonObject, name: string): string => canonicalJson(own(body, name) ?? null);

/** The record is as it was read. */
const isVersion = (version: number) => (table: TableSchema) =>
  ({ kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value: version }) as const;

const namesIn = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

function rolePointers(role: string, names: readonly string[], roleIds: RoleIds): JsonObject[] {
  return names.map((name) => {
    const objectId = roleIds.get(name);
    if (objectId === undefined) throw new SnapshotFault(['roles', role, 'roles'], `names ${name}, a role that neither side has`);
    return { __type: 'Pointer', className: '_Role', objectId };
  });
}

function rolesChange(role: string, wanted: readonly string[], found: readonly string[], roleIds: RoleIds): JsonValue {
  const added = wanted.filter((name) => !found.includes(name));
  // A role that goes takes its memberships with it.
  const removed = found.filter((name) => !wanted.includes(name) && roleIds.has(name));
  const ops: JsonObject[] = [];
  if (added.length > 0) ops.push({ __op: 'AddRelation', objects: rolePointers(role, added, roleIds) });
  if (removed.length > 0) ops.push({ __op: 'RemoveRelation', objects: rolePointers(role, removed, roleIds) });
  return ops.length === 1 ? (ops[0] as JsonObject) : { __op: 'Batch', ops };
}

/** The entries of users stay. */
function aclOf(wanted: JsonValue, { stored }: StoredRow): JsonValue {
  const before = own(stored, 'ACL');
  const users = Object.entries(isJsonObject(before) ? before : {}).filter(([entity]) => !isPortable(entity));
  if (!isJsonObject(wanted) && users.length === 0) return { __op: 'Delete' };
  return { ...(isJsonObject(wanted) ? wanted : {}), ...Object.fromEntries(users) };
}

/** An action that stays in its place keeps its id, by which its log is found. */
function withKnownIds(actions: JsonValue, { stored }: StoredRow): JsonValue {
  const before = own(stored, 'actions');
  if (!Array.isArray(actions)) return actions ?? { __op: 'Delete' };
  return actions.map((action, index) => {
    const known = Array.isArray(before) ? before[index] : undefined;
    if (!isJsonObject(action) || !isJsonObject(known) || known.type !== action.type) return action;
    return typeof known._id === 'string' ? { _id: known._id, ...action } : action;
  });
}

function labelWrites({ table, set, removed }: LabelDelta): NamedWrite[] {
  const step = `labels of ${table}`;
  const written = set.map(({ field, label, found }): NamedWrite => {
    if (!found) {
      const body: JsonObject = { tblName: table, ...(field !== TABLE_ITSELF && { field }), value: label };
      return { step, write: { kind: 'create', className: DICTIONARY, body } };
    }
    const { objectId, version } = found;
    return {
      step,
      write: { kind: 'update', className: DICTIONARY, objectId, body: { value: label }, onlyIf: isVersion(version) },
    };
  });
  const ids = removed.flatMap(({ found }) => [found.objectId, ...found.others]);
  const deleted = ids.map(
    (objectId): NamedWrite => ({ step, write: { kind: 'delete', className: DICTIONARY, objectId, body: {} } }),
  );
  return [...written, ...deleted];
}
