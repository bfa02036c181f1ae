import { fail, ServiceError } from '../errors/fail.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { ClpAction, Schema, TableSchema } from '../schema/model.ts';
import { isHidden, isLog, isSealed, isSiteTable, isSystemTable, secretFieldsOf } from '../schema/system-tables.ts';
import { copiesFor, deletionsOf, holdsCopies, unmasked, withCopies } from './copies.ts';
import { identitiesOf, names, pointerFieldsOf } from './entities.ts';
import { bothOf, type Grant, type RowGuard } from './grant.ts';
import { administers, holdsKey, master, type Principal } from './principal.ts';
import { nowhere, type Visibility, visibilityFor } from './protected-fields.ts';
import { copiedTables, type ReadableTable, type ReadableTables } from './readable.ts';

/**
 * Decides what a caller may do with a table. The only such place: REST, batch, include, sub-queries and aggregate all use it. `count` follows
 * `find` if a table's permissions do not mention it. Reference: permissions.md#table-permissions.
 * @throws what `refuseOutright` throws, before anything else; permissionDenied (119), needsAuthentication (101)
 */
export function authorize(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant {
  refuseOutright(principal, action, table.className);
  return holdsKey(principal) ? keyGrant(table) : cachedGrant(principal, action, table, schema);
}

/** Returns the grant of `authorize`; `null` if it refuses, for data that is then left out. */
export function grantFor(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant | null {
  try {
    return authorize(principal, action, table, schema);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Returns which fields of a table a caller does not see, whatever it may do with the table. */
export const visibilityOf = (principal: Principal, table: TableSchema): Visibility =>
  holdsKey(principal) ? keyGrant(table) : visibilityFor(principal, table);

/** Keys pass every permission. Their grant for a table is one object, so that results can be cached by it. */
const keyGrant = memoByObject((table: TableSchema): Grant => {
  const hiddenFields = secretFieldsOf(table.className);
  return { table, rows: null, hiddenFields, masks: unmasked, reveals: nowhere, mayAddField: true, growthRows: null };
});

/** A cached grant, with the schema under which it was decided. */
interface CachedGrant {
  readonly grant: Grant;
  readonly schema: Schema | undefined;
}

type GrantsOfCaller = WeakMap<TableSchema, Map<ClpAction, CachedGrant>>;
const grantsOfCallers = new WeakMap<Principal, GrantsOfCaller>();

/**
 * Caches grants: a caller is one object for as long as its roles stay, and so are the permissions of a table. For tables with copies a grant
 * is valid for one schema only.
 */
function cachedGrant(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant {
  const ofCaller: GrantsOfCaller = grantsOfCallers.get(principal) ?? new WeakMap();
  const ofTable = ofCaller.get(table) ?? new Map<ClpAction, CachedGrant>();
  const remembered = ofTable.get(action);
  if (remembered && (remembered.schema === schema || !holdsCopies(table.className))) return remembered.grant;
  const grant = decide(principal, action, table, schema);
  grantsOfCallers.set(principal, ofCaller.set(table, ofTable.set(action, { grant, schema })));
  return grant;
}

function decide(principal: Principal, action: ClpAction, table: TableSchema, schema?: Schema): Grant {
  // One grant for both actions, so that callers can compare by identity.
  if (action === 'count' && !table.permissions.count) return cachedGrant(principal, 'find', table, schema);
  const grant = decideAlone(principal, action, table);
  if (action === 'create' || !holdsCopies(table.className)) return grant;
  const copies = copiesFor(principal, table, readableTables(principal, schema));
  return { ...grant, rows: bothOf(grant.rows, copies.rows), masks: copies.masks };
}

/** Decides by permissions and by the record alone, without regard to the sources of copies. */
function decideAlone(principal: Principal, action: ClpAction, table: TableSchema): Grant {
  const growth = rightTo(principal, 'addField', table);
  // Only an existing record can hold the caller.
  const mayAddField = growth !== null && (growth.rows === null || action === 'update') && mayAdministrate(principal);
  const rights = { ...visibilityFor(principal, table), masks: unmasked, table, mayAddField, growthRows: growth?.rows ?? null };
  if (table.className === '_Session') return { ...rights, rows: ownSessions(principal) };
  const right = rightTo(principal, action, table) ?? refuse(principal, action, table);
  if (action === 'create') return right.rows === null ? { ...rights, rows: null } : refuse(principal, action, table);
  const identities = identitiesOf(principal);
  return { ...rights, rows: bothOf({ kind: 'acl', right: isWrite(action) ? 'write' : 'read', identities }, right.rows) };
}

const readableTo = new WeakMap<Principal, WeakMap<Schema, ReadableTables>>();

/** Returns what a caller may read now of the tables whose values are copied into logs; nothing if the schema is not known. */
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
  // Log rows about logs are never visible. Rows copied from mail and notifications are judged by the sources of those.
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
    // Secret fields are in no log.
    const names = [...hiddenFields].filter((name) => !secretFieldsOf(table.className).has(name));
    const inLogs = (name: string) => [name, ...(table.loggedNames.get(name) ?? [])];
    // Older rows of logs name the fields as they were called then.
    const hidden = new Map(names.flatMap((name) => inLogs(name).map((one) => [one, reveals.get(name) ?? null])));
    return { table, rows, hidden, seesDeleted: rows === null || rows.kind === 'acl' };
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Users read and end their own sessions, whatever the permissions say (users.md#sessions). */
function ownSessions(principal: Principal): RowGuard {
  return { kind: 'userFields', fields: ['user'], userId: principal.kind === 'user' ? principal.userId : '' };
}

/** Returns in which records class-level permissions give an action to the caller (`rows: null`: in all); `null` if in none. */
function rightTo(principal: Principal, action: ClpAction, table: TableSchema): { readonly rows: RowGuard | null } | null {
  const grants = table.permissions[action];
  if (names(grants, principal)) return { rows: null };
  if (principal.kind !== 'user' || (needsRoleForUserFields(table.className) && principal.roles.length === 0)) return null;
  const { readUserFields = [], writeUserFields = [] } = table.permissions;
  const fields = [...pointerFieldsOf(grants), ...(isWrite(action) ? writeUserFields : readUserFields)];
  return fields.length > 0 ? { rows: { kind: 'userFields', fields, userId: principal.userId } } : null;
}

/** Whether permissions give an action to a user only in records that hold the user in a field. */
export function isLimitedToUserFields(principal: Principal, action: ClpAction, table: TableSchema): boolean {
  return !holdsKey(principal) && (rightTo(principal, action, table)?.rows ?? null) !== null;
}

function refuse(principal: Principal, action: ClpAction, table: TableSchema): never {
  const grants = table.permissions[action];
  if (principal.kind === 'anonymous' && grants && Object.hasOwn(grants, 'requiresAuthentication')) fail('needsAuthentication');
  fail('permissionDenied', action, table.className);
}

/** Requires a key: for deleting tables and files (schemas.md#delete-a-table, files.md#delete-a-file). @throws masterKeyRequired */
export function requireKey(principal: Principal): void {
  if (!holdsKey(principal)) fail('masterKeyRequired');
}

/** Whether a write of this caller may create a missing table (records.md#new-fields-and-tables). */
export function mayCreateTable(principal: Principal): boolean {
  return holdsKey(principal);
}

/** Whether the caller's silencing flags take effect (records.md#silencing-flags), and whether it may choose an objectId. */
export function actsAsMaster(principal: Principal): boolean {
  return holdsKey(principal);
}

const writes: ReadonlySet<string> = new Set(['create', 'update', 'delete', 'addField']);

/** Whether an action changes data. */
export const isWrite = (action: ClpAction): boolean => writes.has(action);

/**
 * Whether user fields give rights in a table only to users with a role. A new system opens `_Notification` by the user field, but users without
 * any role get 119 (permissions.md#system-tables).
 */
export const needsRoleForUserFields = (className: string): boolean => className === '_Notification';

/** Reference: system-tables.md#channel-logs. */
const isNeverDeleted = (className: string): boolean => className.startsWith('_syslog');
/** Reference: system-tables.md#_requestlog, system-tables.md#_adminlog. */
const masterOnly: ReadonlySet<string> = new Set(['_RequestLog', '_AdminLog']);
/** Whether the master key alone may address a table, whatever its permissions say. */
export const needsMasterKey = (className: string): boolean => masterOnly.has(className);

/**
 * The part of the decision that needs no table: wrong credentials, anonymous writes, and what system tables allow whatever their
 * permissions say. Called first, and alone if the table does not exist. Reference: permissions.md#system-tables.
 * @param objectId the record that is to be changed, for the text of the error
 * @throws permissionDenied, captcha, systemTable (119); needsAuthentication (101); otherUser (206)
 */
export function refuseOutright(principal: Principal, action: ClpAction, className: string, objectId = ''): void {
  if (principal.kind === 'invalid') fail('permissionDenied', action, className);
  if (principal.kind === 'anonymous' && isWrite(action)) fail('captcha');
  if (isHidden(className)) fail('permissionDenied', action, className);
  if (needsMasterKey(className) && !isMaster(principal)) fail('permissionDenied', action, className);
  if (isWrite(action) && isSealed(className)) fail('permissionDenied', action, className);
  if (action === 'delete' && isNeverDeleted(className)) fail('systemTable');
  if (isWrite(action) && isForAdministrators(className) && !mayAdministrate(principal))
    fail('permissionDenied', action, className);
  if (className === '_User') refuseUsers(principal, action, objectId);
  // Every session belongs to a user, so an anonymous caller has none.
  if (className === '_Session' && principal.kind === 'anonymous') fail('permissionDenied', action, className);
}

/** Whether any caller may do this with a table: what `refuseOutright` refuses the master is refused everybody. */
export function isEverAllowed(action: ClpAction, className: string): boolean {
  try {
    refuseOutright(master, action, className);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Whom the class-level permissions of an action affect: all callers (`counts`), only administrators' agents, or no caller. */
export type PermissionEffect = 'counts' | 'forAdministrators' | 'none';

/** Returns whether the permissions of a table matter for an action, beyond what `refuseOutright` and `authorize` decide by themselves. */
export function permissionEffect(className: string, action: ClpAction): PermissionEffect {
  if (needsMasterKey(className)) return 'none';
  if (className === '_Session') return action === 'addField' ? 'counts' : 'none';
  if (className === '_User' && isWrite(action)) return action === 'delete' ? 'none' : 'forAdministrators';
  return action === 'delete' && isNeverDeleted(className) ? 'none' : 'counts';
}

/** System tables that agents of users write as any other: basic tools write reports and notifications. */
const basicToolTables: ReadonlySet<string> = new Set(['_DynamicQueries', '_Notification']);

/** Tables that advanced tools write are closed to basic tools too (agents.md#tool-rights). `_User` has a rule of its own. */
const isForAdministrators = (className: string): boolean =>
  className !== '_User' && (isSiteTable(className) || (isSystemTable(className) && !basicToolTables.has(className)));

/** Whether a caller may do what advanced tools do: agents of users only as administrators; all others as the permissions say. */
export const mayAdministrate = (principal: Principal): boolean =>
  principal.kind !== 'user' || principal.agent === undefined || administers(principal);

/** An agent with a key is the master, whatever the key (agents.md#modes). */
const isMaster = (principal: Principal): boolean =>
  principal.kind === 'master' || (principal.kind === 'apiKey' && principal.tools === true);

/** Reading users needs a signed-in user; writing needs a key, for one's own record too (users.md#change-a-user). */
function refuseUsers(principal: Principal, action: ClpAction, objectId: string): void {
  if (principal.kind === 'anonymous') fail('needsAuthentication');
  // An administrator's agent may write what the table's permissions give; no agent deletes.
  if (principal.kind !== 'user' || (action !== 'delete' && administers(principal))) return;
  if (action === 'update') fail('otherUser', objectId);
  if (isWrite(action)) fail('permissionDenied', action, '_User');
}
