/** Users who signed in for an agent, with the roles that they are given and no others. */
import assert from 'node:assert/strict';
import { bearerHeaders } from '../../support/mcp.ts';
import { everything, type Permission, signInFor } from '../../support/oauth.ts';
import { path, type Store } from '../../support/records.ts';
import { relate, signUp, type User } from '../../support/users.ts';
import { type Tools, toolsAs } from './callers.ts';

export interface Person extends Tools, User {}

/** A user of these roles of a new system, and his tools. */
export async function person(
  store: Store,
  roles: readonly string[],
  permissions: readonly Permission[] = everything,
): Promise<Person> {
  const user = await signUp(store, { mcpPermissions: permissions, name: `Person of ${roles.join(' ')}` });
  for (const name of roles) await join(store, user.id, name);
  const { tokens } = await signInFor(store.service(), user);
  return { ...user, ...toolsAs(store, () => bearerHeaders(tokens.access_token)) };
}

/** Puts a user into a role. */
export async function join(store: Store, userId: string, role: string): Promise<void> {
  const { body, text } = await store.call('GET', path('_Role'), { query: { where: { name: role } } });
  assert.equal(body.results.length, 1, text);
  await store.update('_Role', body.results[0].objectId, { users: relate('AddRelation', '_User', [userId]) });
}
