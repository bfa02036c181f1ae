import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { emailKey, loginKey } from '../../kernel/login-key.ts';
import type { TableSchema } from '../../schema/model.ts';
import { assignmentsOf, type OwnValues } from '../../storage/column-values.ts';
import type { Mutation } from '../../storage/port.ts';

/**
 * Sets the keys by which users sign in. Of several users with the same name or address the first keeps it; the others need another one from an
 * operator, or sign in with the value that is theirs alone.
 * @param users in the order of creation
 */
export function nameUsers(table: TableSchema, users: readonly JsonObject[]): Mutation[] {
  const names = new Set<string>();
  const addresses = new Set<string>();
  return users.flatMap(({ objectId, username, email }) => {
    const name = take(names, typeof username === 'string' ? loginKey(username) : null);
    const address = take(addresses, typeof email === 'string' ? emailKey(email) : null);
    return name === null && address === null ? [] : [update(table, objectId, { _username_key: name, _email_key: address })];
  });
}

/** Returns the key if it is free, and marks it as taken. */
function take(taken: Set<string>, key: string | null): string | null {
  if (key === null || key.trim() === '' || taken.has(key)) return null;
  taken.add(key);
  return key;
}

/**
 * Rewrites the names of roles, so that the unique field holds each once: of several with the same name all but the first get a number.
 * @param roles in the order of creation
 */
export function nameRoles(table: TableSchema, roles: readonly JsonObject[]): Mutation[] {
  const taken = new Set(roles.map(({ name }) => name));
  const given = new Set<JsonValue | undefined>();
  return roles.flatMap(({ objectId, name }) => {
    if (typeof name !== 'string') return [];
    let own = name;
    for (let n = 2; given.has(own) || (own !== name && taken.has(own)); n++) own = `${name} ${n}`;
    given.add(own);
    return [update(table, objectId, { name: own })];
  });
}

function update(table: TableSchema, objectId: JsonValue | undefined, values: OwnValues): Mutation {
  const assignments = assignmentsOf(table, values);
  return { kind: 'update', table, objectId: objectId as string, guard: null, assignments, returning: [] };
}
