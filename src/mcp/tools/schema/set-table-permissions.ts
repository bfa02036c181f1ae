import { permissionEffect, requireSchemaChange } from '../../../access/index.ts';
import { inTurn } from '../../../crm/commands/exclusive.ts';
import { allRoleNames } from '../../../crm/queries/roles.ts';
import { tableNamed } from '../../../crm/queries/tables.ts';
import { badArguments } from '../../../crm/refusals.ts';
import { readEntities } from '../../../crm/schema/permissions.ts';
import { type JsonObject, jsonBytes } from '../../../kernel/json.ts';
import { updateSchema } from '../../../records/index.ts';
import { planTableChange } from '../../../schema/definition.ts';
import { type ClpAction, clpActions, type TableSchema } from '../../../schema/model.ts';
import { flag, object, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';

/** SPEC "Schema record": classLevelPermissions. Actions that are not sent stay, and so do the rules about fields. */
export const setTablePermissions = defineTool({
  name: 'Set-Table-Permissions',
  group: 'schema',
  description:
    'Set which roles may find, get, create, update, delete and addField {action: [roles]}; actions not sent stay, [] is nobody.',
  input: { className: table(), permissions: object(), dryRun: flag().default(false) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  run: (call, { className, permissions, dryRun }) =>
    inTurn(call, `permissions ${className}`, (held) => setPermissions(held, className, permissions, dryRun)),
});

async function setPermissions(call: ToolCall, className: string, sent: JsonObject, dryRun: boolean): Promise<JsonObject> {
  const { principal } = call;
  const { permissions } = tableNamed(call, className);
  const roles = await allRoleNames(call);
  const before: JsonObject = {};
  const after: JsonObject = {};
  for (const [action, entities] of Object.entries(sent)) {
    if (!isAction(action)) return badArguments(`permissions: ${action.slice(0, 128)} is not one of ${clpActions.join(', ')}`);
    const given = permissions[action] ?? {};
    before[action] = structuredClone(given) as JsonObject;
    after[action] = await readEntities(call, `permissions.${action}`, entities, { roles, before: given });
  }
  if (Object.keys(after).length === 0) badArguments('permissions must not be empty');
  // What others have closed meanwhile stays closed.
  const bodyFor = (table: TableSchema) => ({
    classLevelPermissions: { ...(structuredClone(table.permissions) as JsonObject), ...after },
  });
  if (dryRun) {
    requireSchemaChange(principal);
    planTableChange(call.store.schema(), className, bodyFor(tableNamed(call, className)));
  } else {
    await updateSchema(call, className, bodyFor);
  }
  const taken = differences(before, after);
  const warnings = warningsOf(className, after, taken);
  return {
    className,
    ...(dryRun && { dryRun }),
    ...shownWithin({ before, after }, { given: differences(after, before), taken }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** What the permissions of a table may take of an answer; lists of users may be long, and are left out then. */
const MAX_BYTES = 20_000;

const shownWithin = (...parts: readonly JsonObject[]): JsonObject =>
  Object.assign({}, ...parts.filter((part) => jsonBytes(part) <= MAX_BYTES)) as JsonObject;

const isAction = (name: string): name is ClpAction => (clpActions as readonly string[]).includes(name);

/** By action, who is in one and not in the other. */
function differences(one: JsonObject, other: JsonObject): JsonObject {
  const found = Object.keys(one).map((action): [string, string[]] => {
    const others = other[action] as JsonObject;
    return [action, Object.keys(one[action] as JsonObject).filter((entity) => !Object.hasOwn(others, entity))];
  });
  return Object.fromEntries(found.filter(([, entities]) => entities.length > 0));
}

/** What changes nothing; and who administers by signing in can no longer do so where the table is closed to his role. */
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
