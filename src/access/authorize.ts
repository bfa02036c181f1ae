import { fail, ServiceError } from '../errors/fail.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { ClpAction, Schema, TableSchema } from '../schema/model.ts';
import { isHidden, isLog, isSiteTable, isSystemTable, secretFieldsOf } from '../schema/system-tables.ts';
import { copiesFor, deletionsOf, holdsCopies, unmasked, withCopies } from './copies.ts';
import { identitiesOf, names, pointerFieldsOf } from './entities.ts';
import { bothOf, type Grant, type RowGuard } from './grant.ts';
import { administers, holdsKey, type Principal } from './principal.ts';
import { nowhere, type Visibility, visibilityFor } from './protected-fields.ts';
import { copiedTables, type ReadableTable, type ReadableTables } from './readable.ts';

/**
 * The one place that decides what a caller may do with a table; every path asks it (REST, batch, include, sub-queries, aggregate).
 * SPEC "Authentication", "Errors" 119; CONTRACT "Records". `count` follows `find` where a table's permissions do not speak of it.
 * @throws what `refuseOutright` throws, before anything else; permissionDenied (119), needsAuthentication (101)
 */
export function authorize(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant {
  refuseOutright(principal, action, table.className);
  return holdsKey(principal) ? keyGrant(table) : rememberedGrant(principal, action, table, schema);
}

/** What `authorize` gives; `null` where it refuses, for what is then left out. */
export function grantFor(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant | null {
  try {
    return authorize(principal, action, table, schema);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** What of a table a caller does not see, whatever he may do with it. */
export const visibilityOf = (principal: Principal, table: TableSchema): Visibility =>
  holdsKey(principal) ? keyGrant(table) : visibilityFor(principal, table);

/** Keys pass every permission; their grant for a table is one object, by which callers remember what they made for it. */
const keyGrant = memoByObject((table: TableSchema): Grant => {
  const hiddenFields = secretFieldsOf(table.className);
  return { table, rows: null, hiddenFields, masks: unmasked, reveals: nowhere, mayAddField: true, growthRows: null };
});

/** A decision, and the schema that it was made under. */
interface Decided {
  readonly grant: Grant;
  readonly schema: Schema | undefined;
}

type GrantsOfCaller = WeakMap<TableSchema, Map<ClpAction, Decided>>;
const grantsOfCallers = new WeakMap<Principal, GrantsOfCaller>();

/**
 * A caller is one object for as long as his roles stay, and so are the permissions of a table: what was decided holds. Of tables with copies
 * it holds for as long as nothing of the schema changes.
 */
function rememberedGrant(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant {
  const ofCaller: GrantsOfCaller = grantsOfCallers.get(principal) ?? new WeakMap();
  const ofTable = ofCaller.get(table) ?? new Map<ClpAction, Decided>();
  const remembered = ofTable.get(action);
  if (remembered && (remembered.schema === schema || !holdsCopies(table.className))) return remembered.grant;
  const grant = decide(principal, action, table, schema);
  grantsOfCallers.set(principal, ofCaller.set(table, ofTable.set(action, { grant, schema })));
  return grant;
}

function decide(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant {
  // One grant for both, so that callers see that it is the same.
  if (action === 'count' && !table.permissions.count) return rememberedGrant(principal, 'find', table, schema);
  const grant = decideAlone(principal, action, table);
  if (action === 'create' || !holdsCopies(table.className)) return grant;
  const copies = copiesFor(principal, table, readableTables(principal, schema));
  return { ...grant, rows: bothOf(grant.rows, copies.rows), masks: copies.masks };
}

/** What permissions and the record itself say, whatever it is copied from. */
function decideAlone(principal: Principal, action: ClpAction, table: TableSchema): Grant {
  const growth = rightTo(principal, 'addField', table);
  // Only a record that is there can hold the caller.
  const mayAddField = growth !== null && (growth.rows === null || action === 'update') && mayAdministrate(principal);
  const rights = { ...visibilityFor(principal, table), masks: unmasked, table, mayAddField, growthRows: growth?.rows ?? null };
  if (table.className === '_Session') return { ...rights, rows: ownSessions(principal) };
  const right = rightTo(principal, action, table) ?? refuse(principal, action, table);
  if (action === 'create') return right.rows === null ? { ...rights, rows: null } : refuse(principal, action, table);
  const identities = identitiesOf(principal);
  return { ...rights, rows: bothOf({ kind: 'acl', right: isWrite(action) ? 'write' : 'read', identities }, right.rows) };
}

const readableTo = new WeakMap<Principal, WeakMap<Schema, ReadableTables>>();

/** What a caller may read now of the tables whose values logs have; nothing where the schema is not known. */
function readableTables(principal: Principal, schema: Schema | undefined): ReadableTables {
  if (!schema) return { tables: new Map(), deletions: null, identities: identitiesOf(principal) };
  const known = readableTo.get(principal) ?? new WeakMap<Schema, ReadableTables>();
  const of = known.get(schema) ?? findReadable(principal, schema);
  readableTo.set(principal, known.set(schema, of));
  return of;
}

function findReadable(principal: Principal, schema: Schema): ReadableTables {
  const identities = identitiesOf(principal);
  const tables = new Map<string, ReadableTable>();
  const of: ReadableTables = { tables, deletions: deletionsOf(schema), identities };
  // What logs say of logs is not told; what mail and notifications were made of is among the sources of what was made of them.
  const copied = copiedTables(schema).filter(({ className }) => !isHidden(className) && !isLog(className));
  for (const table of copied) {
    const right = getRight(principal, table);
    if (right) tables.set(table.className, right);
  }
  const made = copied.filter(({ className }) => tables.has(className) && holdsCopies(className));
  if (made.length === 0) return of;
  const outer = new Map(tables);
  for (const table of made) {
    const known = tables.get(table.className) as ReadableTable;
    outer.set(table.className, withCopies(known, copiesFor(principal, table, of)));
  }
  return { ...of, tables: outer };
}

function getRight(principal: Principal, table: TableSchema): ReadableTable | null {
  try {
    refuseOutright(principal, 'get', table.className);
    const { rows, hiddenFields, reveals } = decideAlone(principal, 'get', table);
    // Secrets are in no log.
    const names = [...hiddenFields].filter((name) => !secretFieldsOf(table.className).has(name));
    const hidden = new Map(names.map((name) => [name, reveals.get(name) ?? null]));
    return { table, rows, hidden, hearsOfGone: rows === null || rows.kind === 'acl' };
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** SPEC "Users and sessions": everybody reads and ends his own sessions, whatever the permissions say. */
function ownSessions(principal: Principal): RowGuard {
  return { kind: 'userFields', fields: ['user'], userId: principal.kind === 'user' ? principal.userId : '' };
}

/** Whether, and in which records, class-level permissions give an action to the caller; `null` where they do not. */
function rightTo(principal: Principal, action: ClpAction, table: TableSchema): { readonly rows: RowGuard | null } | null {
  const grants = table.permissions[action];
  if (names(grants, principal)) return { rows: null };
  if (principal.kind !== 'user' || (opensToRoles(table.className) && principal.roles.length === 0)) return null;
  const { readUserFields = [], writeUserFields = [] } = table.permissions;
  const fields = [...pointerFieldsOf(grants), ...(isWrite(action) ? writeUserFields : readUserFields)];
  return fields.length > 0 ? { rows: { kind: 'userFields', fields, userId: principal.userId } } : null;
}

/** Whether permissions give an action to a user only in records that hold him in a field. */
export function mayOnlyWhereHeld(principal: Principal, action: ClpAction, table: TableSchema): boolean {
  return !holdsKey(principal) && (rightTo(principal, action, table)?.rows ?? null) !== null;
}

function refuse(principal: Principal, action: ClpAction, table: TableSchema): never {
  const grants = table.permissions[action];
  if (principal.kind === 'anonymous' && grants && Object.hasOwn(grants, 'requiresAuthentication')) fail('needsAuthentication');
  fail('permissionDenied', action, table.className);
}

/** Schema reads and changes, and deleting files, need a key (SPEC "Schemas", "Authentication" rule 5). @throws masterKeyRequired */
export function requireKey(principal: Principal): void {
  if (!holdsKey(principal)) fail('masterKeyRequired');
}

/** Whether a write of this caller may make a table that does not exist (CONTRACT "Records"). */
export function mayCreateTable(principal: Principal): boolean {
  return holdsKey(principal);
}

/** Whether the caller's silencing flags count (SPEC "Trigger-silencing flags"), and whether he may choose an objectId. */
export function actsAsMaster(principal: Principal): boolean {
  return holdsKey(principal);
}

const writes: ReadonlySet<string> = new Set(['create', 'update', 'delete', 'addField']);

/** Whether an action changes something. */
export const isWrite = (action: ClpAction): boolean => writes.has(action);

/** SPEC "Users and sessions": without a role all queries return 119. A new system opens this table by whom a record is for. */
export const opensToRoles = (className: string): boolean => className === '_Notification';

/** SPEC "`_syslogTriggers` fields": takes POST and PUT, rejects DELETE. So do the other logs of its kind. */
const isNeverDeleted = (className: string): boolean => className.startsWith('_syslog');
/** SPEC "Other system tables": `_RequestLog` is for the master key only. */
const masterOnly: ReadonlySet<string> = new Set(['_RequestLog']);

/**
 * The part of the decision that needs no table: wrong credentials, anonymous writes, and what system tables allow whatever their
 * permissions say. Callers use it first, and alone where the table does not exist.
 * @param objectId the record that is to be changed, for the text of its refusal
 * @throws permissionDenied, captcha, systemTable (119); needsAuthentication (101); otherUser (206)
 */
export function refuseOutright(principal: Principal, action: ClpAction, className: string, objectId = ''): void {
  if (principal.kind === 'invalid') fail('permissionDenied', action, className);
  if (principal.kind === 'anonymous' && isWrite(action)) fail('captcha');
  if (isHidden(className)) fail('permissionDenied', action, className);
  if (masterOnly.has(className) && !isMaster(principal)) fail('permissionDenied', action, className);
  if (action === 'delete' && isNeverDeleted(className)) fail('systemTable');
  if (isWrite(action) && isForAdministrators(className) && !mayAdministrate(principal))
    fail('permissionDenied', action, className);
  if (className === '_User') refuseUsers(principal, action, objectId);
  // A session belongs to somebody, and without signing in there is nobody.
  if (className === '_Session' && principal.kind === 'anonymous') fail('permissionDenied', action, className);
}

/** What class-level permissions of an action are worth: of some tables nothing, or to agents of administrators alone. */
export type PermissionEffect = 'counts' | 'forAdministrators' | 'none';

/** Whether it matters whom the permissions of a table name, whatever `refuseOutright` and `authorize` do of themselves. */
export function permissionEffect(className: string, action: ClpAction): PermissionEffect {
  if (masterOnly.has(className)) return 'none';
  if (className === '_Session') return action === 'addField' ? 'counts' : 'none';
  if (className === '_User' && isWrite(action)) return action === 'delete' ? 'none' : 'forAdministrators';
  return action === 'delete' && isNeverDeleted(className) ? 'none' : 'counts';
}

/** System tables that agents of users write as any other: reports and notifications are what basic tools write. */
const everyday: ReadonlySet<string> = new Set(['_DynamicQueries', '_Notification']);

/** What advanced tools write (SPEC "Authentication: Agent-tool layer" 1) is closed to basic ones too. `_User` has a rule of its own. */
const isForAdministrators = (className: string): boolean =>
  className !== '_User' && (isSiteTable(className) || (isSystemTable(className) && !everyday.has(className)));

/** Whether a caller may do what advanced tools do: agents of users where they administer; all others as the permissions say. */
export const mayAdministrate = (principal: Principal): boolean =>
  principal.kind !== 'user' || principal.agent === undefined || administers(principal);

/** An agent with a key is the master, whatever the key (SPEC "Authentication: Agent-tool layer"). */
const isMaster = (principal: Principal): boolean =>
  principal.kind === 'master' || (principal.kind === 'apiKey' && principal.tools === true);

/** SPEC "Authentication" rule 7, "Users and sessions": reading needs a signed-in user; writing needs a key, for one's own record too. */
function refuseUsers(principal: Principal, action: ClpAction, objectId: string): void {
  if (principal.kind === 'anonymous') fail('needsAuthentication');
  // Who administers over an agent may write what the table's permissions give; no agent deletes.
  if (principal.kind !== 'user' || (action !== 'delete' && administers(principal))) return;
  if (action === 'update') fail('otherUser', objectId);
  if (isWrite(action)) fail('permissionDenied', action, '_User');
}
