import { fail } from '../errors/fail.ts';
import type { ClpAction } from '../schema/model.ts';
import { isHidden, isSiteTable, isSystemTable } from '../schema/system-tables.ts';
import { administers } from './agent.ts';
import type { Principal } from './principal.ts';

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
