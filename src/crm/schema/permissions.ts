import { permissionEffect, requireSchemaChange } from '../../access/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { type RecordContext, readRow, updateSchema } from '../../records/index.ts';
import { planTableChange } from '../../schema/definition.ts';
import { type ClpAction, clpActions, type TableSchema } from '../../schema/model.ts';
import { runExclusive } from '../commands/exclusive.ts';
import type { CrmContext } from '../context.ts';
import { tableNamed } from '../queries/records.ts';
import { allRoleNames, publicEntities } from '../queries/roles.ts';
import { badArguments } from '../refusals.ts';

/** A change of a table's permissions, by action. */
export interface PermissionChange {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly given: JsonObject;
  readonly taken: JsonObject;
  readonly warnings: readonly string[];
}

/**
 * Sets the permissions of actions on a table (permissions.md#table-permissions). Actions that are not sent stay, and so do rules for fields.
 * @param sent roles and users by action
 * @param dryRun only checks whether the change is allowed
 * @throws classMissing (103), invalidArguments (107); permissionDenied (119)
 */
export const setTablePermissions = (
  context: CrmContext,
  className: string,
  sent: JsonObject,
  dryRun: boolean,
): Promise<PermissionChange> =>
  runExclusive(context, `permissions ${className}`, (held) => setPermissions(held, className, sent, dryRun));

async function setPermissions(
  context: CrmContext,
  className: string,
  sent: JsonObject,
  dryRun: boolean,
): Promise<PermissionChange> {
  const { principal } = context;
  const { permissions } = tableNamed(context, className);
  const roles = await allRoleNames(context);
  const before: JsonObject = {};
  const after: JsonObject = {};
  for (const [action, entities] of Object.entries(sent)) {
    if (!isAction(action)) return badArguments(`permissions: ${action.slice(0, 128)} is not one of ${clpActions.join(', ')}`);
    const given = permissions[action] ?? {};
    before[action] = structuredClone(given) as JsonObject;
    after[action] = await readEntities(context, `permissions.${action}`, entities, { roles, before: given });
  }
  if (Object.keys(after).length === 0) badArguments('permissions must not be empty');
  // Applied to the current permissions, so that concurrent changes of other actions stay.
  const bodyFor = (table: TableSchema) => ({
    classLevelPermissions: { ...(structuredClone(table.permissions) as JsonObject), ...after },
  });
  if (dryRun) {
    requireSchemaChange(principal);
    planTableChange(context.store.schema(), className, bodyFor(tableNamed(context, className)));
  } else {
    await updateSchema(context, className, bodyFor);
  }
  const taken = differences(before, after);
  return { before, after, given: differences(after, before), taken, warnings: warningsOf(className, after, taken) };
}

const isAction = (name: string): name is ClpAction => (clpActions as readonly string[]).includes(name);

/** Returns by action the entities in `one` that are not in `other`. */
function differences(one: JsonObject, other: JsonObject): JsonObject {
  const found = Object.keys(one).map((action): [string, string[]] => {
    const others = other[action] as JsonObject;
    return [action, Object.keys(one[action] as JsonObject).filter((entity) => !Object.hasOwn(others, entity))];
  });
  return Object.fromEntries(found.filter(([, entities]) => entities.length > 0));
}

/** Hints: the entry has no effect, or it locks signed-in administrators out of the table. */
function warningsOf(className: string, after: JsonObject, taken: JsonObject): string[] {
  const isLost = (action: string) => (taken[action] as string[] | undefined)?.includes('role:Admin') === true;
  const lost = ['find', 'get', 'update'].filter(isLost);
  const closed = Object.keys(after).filter((action) => Object.keys(after[action] as JsonObject).length === 0);
  const having = (effect: string) =>
    Object.keys(after).filter((action) => permissionEffect(className, action as ClpAction) === effect);
  const [none, some] = [having('none'), having('forAdministrators')];
  return [
    ...(none.length > 0 ? [`On ${className} the permissions of ${none.join(', ')} have no effect: the service decides`] : []),
    ...(some.length > 0
      ? [`On ${className} the permissions of ${some.join(', ')} count for agents of administrators alone`]
      : []),
    ...(lost.length > 0 ? [`Members of Admin lose ${lost.join(', ')} on ${className}`] : []),
    ...(closed.length > 0 ? [`Nobody but keys may ${closed.join(', ')} on ${className}`] : []),
  ];
}

const MAX_ENTITIES = 500;
const userFields = ['objectId'] as const;

/** Entities that a permission may name. */
/** Entities that a permission may name. */
interface Known {
  readonly roles: readonly string[];
  /** The current permission; entities in it may be named again. */
  readonly before: Readonly<Record<string, unknown>>;
}

/**
 * Converts a list or map of entities to a permission (permissions.md#table-permissions). Roles may be sent without the prefix `role:`.
 * @param sent `["Sales", "role:Admin", "requiresAuthentication"]`, or the map of the schema endpoints
 * @throws invalidArguments (107) for an unknown role or user
 */
async function readEntities(context: RecordContext, place: string, sent: JsonValue, known: Known): Promise<JsonObject> {
  const entries = entriesOf(place, sent);
  if (entries.length > MAX_ENTITIES) badArguments(`${place} must have at most ${MAX_ENTITIES} entries`);
  const read = new Map<string, JsonValue>();
  for (const [name, granted] of entries) {
    if (name === 'pointerFields' && Array.isArray(granted)) read.set(name, granted);
    else if (granted === true) read.set(await entityOf(context, place, name, known), true);
    else if (granted !== false) badArguments(`${place}: ${name.slice(0, 128)} must be true or false`, { expected: FORM });
  }
  return Object.fromEntries(read);
}

const FORM = 'permissions: {find: ["Admin", "Sales"], update: {"role:Admin": true}}';

function entriesOf(place: string, sent: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (isJsonObject(sent)) return Object.entries(sent);
  if (!Array.isArray(sent)) return badArguments(`${place} must be a list of roles or a map`, { expected: FORM });
  return sent.map((name) =>
    typeof name === 'string' ? ([name, true] as const) : badArguments(`${place} must have texts`, { expected: FORM }),
  );
}

async function entityOf(context: RecordContext, place: string, name: string, { roles, before }: Known): Promise<string> {
  if (publicEntities.includes(name) || Object.hasOwn(before, name)) return name;
  const role = name.startsWith('role:') ? name.slice('role:'.length) : name;
  if (roles.includes(role)) return `role:${role}`;
  if (role === name && (await readRow(context.store, '_User', userFields, name))) return name;
  return badArguments(`${place}: ${name.slice(0, 128)} is no role and no user`, {
    expected: `Roles: ${roles.slice(0, 100).join(', ')}; also requiresAuthentication, * and objectIds of users`,
    next: 'Get-Roles',
  });
}
