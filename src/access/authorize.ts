import { fail } from '../errors/fail.ts';
import type { ClpAction, Grants, TableSchema } from '../schema/model.ts';
import type { Grant, RowGuard } from './grant.ts';
import { holdsKey, type Principal } from './principal.ts';

const writes: ReadonlySet<string> = new Set(['create', 'update', 'delete', 'addField']);

/** SPEC "`_syslogTriggers` fields": takes POST and PUT, rejects DELETE. */
const neverDeleted: ReadonlySet<string> = new Set(['_syslogTriggers']);

/**
 * The one place that decides what a caller may do with a table; every path asks it (REST, batch, include, sub-queries, aggregate).
 * SPEC "Authentication", "Errors" 119.
 * @throws captcha for an anonymous write, before anything else; systemTable; permissionDenied; needsAuthentication
 */
export function authorize(principal: Principal, action: ClpAction, table: TableSchema): Grant {
  refuseOutright(principal, action, table.className);
  if (holdsKey(principal)) return keyGrant(table);
  const allowed = allows(principal, table.permissions[action] ?? (action === 'count' ? table.permissions.find : undefined));
  if (!allowed) refuse(principal, action, table);
  const right = writes.has(action) ? 'write' : 'read';
  const rows: RowGuard | null = action === 'create' ? null : { kind: 'acl', right, identities: identitiesOf(principal) };
  return { table, rows, hiddenFields: hiddenFrom(principal, table), mayAddField: allows(principal, table.permissions.addField) };
}

/**
 * The part of the decision that needs no table: wrong credentials, anonymous writes, logs that keep their rows. Callers use it where
 * the table does not exist.
 * @throws permissionDenied, captcha, systemTable
 */
export function refuseOutright(principal: Principal, action: ClpAction, className: string): void {
  if (principal.kind === 'invalid') fail('permissionDenied', action, className);
  if (principal.kind === 'anonymous' && writes.has(action)) fail('captcha');
  if (action === 'delete' && neverDeleted.has(className)) fail('systemTable');
}

const keyGrants = new WeakMap<TableSchema, Grant>();

/** Keys pass every permission; their grant for a table is one object, by which callers remember what they made for it. */
function keyGrant(table: TableSchema): Grant {
  let grant = keyGrants.get(table);
  if (!grant) {
    grant = { table, rows: null, hiddenFields: neverShown(table), mayAddField: true };
    keyGrants.set(table, grant);
  }
  return grant;
}

const none: ReadonlySet<string> = new Set();
const secretUserFields: ReadonlySet<string> = new Set(['password']);

/** SPEC "`_User`": the password is never returned, not even with the master key; nobody writes it as a plain field either. */
function neverShown(table: TableSchema): ReadonlySet<string> {
  return table.className === '_User' ? secretUserFields : none;
}

/** `protectedFields`: of all lists that speak of the caller, only what each of them hides is hidden (as in Parse). */
function hiddenFrom(principal: Principal, table: TableSchema): ReadonlySet<string> {
  const lists = table.permissions.protectedFields ?? {};
  const entities = identitiesOf(principal);
  if (principal.kind === 'user') entities.push('authenticated');
  const applying = entities.filter((entity) => Object.hasOwn(lists, entity)).map((entity) => lists[entity] as readonly string[]);
  const hidden = applying.reduce<readonly string[] | undefined>(
    (kept, list) => (kept ? kept.filter((name) => list.includes(name)) : list),
    undefined,
  );
  return hidden ? new Set([...neverShown(table), ...hidden]) : neverShown(table);
}

/** Schema reads and changes need a key (SPEC "Schemas"). @throws masterKeyRequired */
export function authorizeSchema(principal: Principal): void {
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

function identitiesOf(principal: Principal): string[] {
  if (principal.kind !== 'user') return ['*'];
  return ['*', principal.userId, ...principal.roles.map((role) => `role:${role}`)];
}

function allows(principal: Principal, grants: Grants | undefined): boolean {
  if (!grants) return false;
  const named = (entity: string) => Object.hasOwn(grants, entity) && grants[entity] === true;
  if (principal.kind === 'user' && named('requiresAuthentication')) return true;
  return identitiesOf(principal).some(named);
}

function refuse(principal: Principal, action: ClpAction, table: TableSchema): never {
  const grants = table.permissions[action];
  if (principal.kind === 'anonymous' && grants && Object.hasOwn(grants, 'requiresAuthentication')) fail('needsAuthentication');
  fail('permissionDenied', action, table.className);
}
