/** Users who signed in for an agent, with roles and permissions of their own. */
import assert from 'node:assert/strict';
import { bearerHeaders, callTool, useTool } from '../../../support/mcp.ts';
import { everything, type Permission, signInFor } from '../../../support/oauth.ts';
import { type Json, path, type Store } from '../../../support/records.ts';
import { relate, signUp } from '../../../support/users.ts';
import { assertToolRefused } from '../records/world.ts';

export interface Person {
  id: string;
  use(name: string, args?: object): Promise<Json>;
  refused(name: string, args: object, code: number, words: RegExp): Promise<Json>;
}

/** A user of the roles of a new system, or of others that are there, who signed in and granted all that he may. */
export async function signedIn(
  store: Store,
  roles: readonly string[],
  mcpPermissions: readonly Permission[] = everything,
): Promise<Person> {
  const user = await signUp(store, { mcpPermissions, name: 'Noa' });
  for (const name of roles) {
    const { results } = (await store.call('GET', path('_Role'), { query: { where: { name } } })).body;
    const body = { users: relate('AddRelation', '_User', [user.id]) };
    const answer = await store.call('PUT', path('_Role', results[0].objectId), { body });
    assert.equal(answer.status, 200, answer.text);
  }
  const { tokens } = await signInFor(store.service(), user);
  const headers = bearerHeaders(tokens.access_token);
  return {
    id: user.id,
    use: (name, args = {}) => useTool(store.service(), headers, name, args),
    refused: async (name, args, code, words) =>
      assertToolRefused(await callTool(store.service(), headers, name, args), code, words),
  };
}

/** Changes the permissions of a table. */
export async function permit(store: Store, table: string, classLevelPermissions: object): Promise<void> {
  const { status, text } = await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions } });
  assert.equal(status, 200, text);
}

/** The objectId of the row of a lookup table. */
export async function lookupId(store: Store, table: string, where: object): Promise<string> {
  const { body, text } = await store.call('GET', path(table), { query: { where, order: 'SortOrder' } });
  assert.ok(body.results[0], text);
  return body.results[0].objectId;
}
