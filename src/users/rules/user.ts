import { actorId, isAgentPermission } from '../../access/index.ts';
import { isNameOfActor } from '../../acts/index.ts';
import { fail } from '../../errors/fail.ts';
import { type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { emailKey, loginKey } from '../../kernel/login-key.ts';
import type { RecordContext, RuledFields, RuledWrite, TableRules } from '../../records/index.ts';
import type { OwnValues } from '../../storage/column-values.ts';
import { isOperator, type StoredValue } from '../../values/index.ts';
import { keepAdministrator } from '../accounts/administrators.ts';
import { unlocked } from '../accounts/lockout.ts';
import { hashPassword, meetsPolicy } from '../passwords/password.ts';
import { withoutLink } from '../passwords/reset-token.ts';
import { endSessionsOf } from '../sessions/record.ts';

/**
 * Names are unique, passwords are stored as hashes only, and a user who is blocked, gone or has a new password has no sessions. The last
 * administrator stays one (`keepAdministrator`). Reference: users.md#create-a-user, users.md#change-a-user.
 */
export const userRules: TableRules = {
  async create({ context, objectId, fields }: RuledWrite): Promise<RuledFields> {
    if (isNameOfActor(objectId)) fail('duplicateValue');
    const names = { ...nameOf(fields.username), ...emailOf(fields.email) };
    checkAgentPermissions(fields.mcpPermissions);
    return {
      fields: withoutSecrets(fields),
      set: { ...names, ...unlockedUnless(fields), password: await passwordOf(context, fields.password) },
    };
  },

  async update(write: RuledWrite): Promise<RuledFields> {
    const { context, objectId, fields } = write;
    const set: Record<string, StoredValue> = {};
    if (Object.hasOwn(fields, 'username')) Object.assign(set, nameOf(fields.username));
    if (Object.hasOwn(fields, 'email')) Object.assign(set, emailOf(fields.email));
    checkAgentPermissions(fields.mcpPermissions);
    const hasPassword = Object.hasOwn(fields, 'password');
    if (hasPassword) Object.assign(set, unlockedUnless(fields), { password: await passwordOf(context, fields.password) });
    const endsSessions = hasPassword || fields.active === false;
    // Earlier links were sent to the user's former address, or before the user was blocked or got a new password.
    if (endsSessions || Object.hasOwn(set, '_email_key')) Object.assign(set, withoutLink);
    const kept = await keepAdministrator({ ...write, className: '_User', action: 'update' });
    const ruled = { fields: withoutSecrets(fields), set, ...kept };
    return endsSessions ? { ...ruled, before: (schema) => endSessionsOf(schema, objectId) } : ruled;
  },

  async remove(write: RuledWrite): Promise<RuledFields> {
    const { objectId } = write;
    const kept = await keepAdministrator({ ...write, className: '_User', action: 'remove' });
    return { fields: {}, ...kept, before: (schema) => endSessionsOf(schema, objectId) };
  },
};

/** Returns the fields without the password, and without the token that a client may send back with a user. */
function withoutSecrets(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== 'password' && !/^sessionToken(?:\.|$)/.test(key)));
}

/** Whether a user is created as blocked (users.md#create-a-user). */
export function startsBlocked(body: JsonObject): boolean {
  const active = own(body, 'active') ?? null;
  return (isOperator(active) && active.__op === 'SetOnInsert' ? own(active, 'amount') : active) === false;
}

/**
 * Checks that values written to `mcpPermissions`, whole or by an operator, are names of permissions (agents.md#mcp-permissions).
 * @throws invalidAgentPermission (107)
 */
function checkAgentPermissions(sent: JsonValue | undefined): void {
  const value = sent ?? null;
  const names = isOperator(value) ? (own(value, 'objects') ?? own(value, 'amount')) : value;
  if (!Array.isArray(names)) return;
  const wrong = names.find((name) => !isAgentPermission(name));
  if (wrong !== undefined) fail('invalidAgentPermission', typeof wrong === 'string' ? wrong.slice(0, 100) : typeof wrong);
}

/** A new password lifts the lock, unless a key writes the count itself. */
function unlockedUnless(fields: JsonObject): OwnValues {
  return Object.hasOwn(fields, '_failed_login_count') ? {} : unlocked;
}

/** @throws usernameMissing (200) */
function nameOf(username: JsonValue | undefined): { _username_key: string } {
  // A String field takes a number (types.md#string).
  const name = typeof username === 'number' ? String(username) : username;
  const key = typeof name === 'string' ? loginKey(name) : '';
  return key.trim() === '' ? fail('usernameMissing') : { _username_key: key };
}

/** @throws invalidEmail (125) */
function emailOf(email: JsonValue | undefined): { _email_key: string | null } {
  if (email === undefined || email === null || email === '' || isDelete(email)) return { _email_key: null };
  if (typeof email !== 'string') return fail('invalidEmail');
  return { _email_key: emailKey(email) ?? fail('invalidEmail') };
}

const isDelete = (value: JsonValue): boolean => isOperator(value) && (value as JsonObject).__op === 'Delete';

/** @returns the hash. @throws passwordMissing (201), passwordPolicy (142) */
function passwordOf({ store, principal }: RecordContext, password: JsonValue | undefined): Promise<string> {
  if (typeof password !== 'string' || password === '') return fail('passwordMissing');
  if (!meetsPolicy(password)) return fail('passwordPolicy');
  const caller = principal.kind === 'apiKey' ? `key:${principal.name}` : (actorId(principal) ?? '');
  return hashPassword({ system: store, caller }, password);
}
