/** Callers of agent tools: a key, and users who signed in. */
import assert from 'node:assert/strict';
import { bearerHeaders, callTool, keyHeaders, type ToolAnswer, useTool } from '../../support/mcp.ts';
import { everything, type Permission, signInFor } from '../../support/oauth.ts';
import { type Json, path, type Store } from '../../support/records.ts';
import { relate, signUp } from '../../support/users.ts';

export interface Tools {
  /** A call that must succeed; answers what its text holds. */
  use(name: string, args?: object): Promise<Json>;
  call(name: string, args?: object): Promise<ToolAnswer>;
  /** A call that must be refused with a code and a text that matches. */
  refused(name: string, args: object, code: number, text?: RegExp): Promise<void>;
}

/** @param headers the caller's; asked for at each call, since services start before the first test */
export function toolsAs(store: Store, headers: () => Record<string, string>): Tools {
  return {
    use: (name, args = {}) => useTool(store.service(), headers(), name, args),
    call: (name, args = {}) => callTool(store.service(), headers(), name, args),
    async refused(name, args, code, text = /./) {
      const answer = await callTool(store.service(), headers(), name, args);
      assert.ok(answer.isError, `${name} ${JSON.stringify(args)}: ${answer.text}`);
      assert.equal(answer.json.code, code, answer.text);
      assert.match(answer.text, text);
    },
  };
}

/** The tools as the holder of an API key. */
export const byKey = (store: Store): Tools => toolsAs(store, () => keyHeaders(store.service()));

/** The tools as a user who signed in, with roles of a new system. */
export async function byUser(
  store: Store,
  roles: readonly string[],
  permissions: readonly Permission[] = everything,
): Promise<Tools & { id: string }> {
  const user = await signUp(store, { mcpPermissions: permissions });
  for (const name of roles) {
    const { results } = (await store.call('GET', path('_Role'), { query: { where: { name } } })).body;
    const body = { users: relate('AddRelation', '_User', [user.id]) };
    const answer = await store.call('PUT', path('_Role', results[0].objectId), { body });
    assert.equal(answer.status, 200, answer.text);
  }
  const { tokens } = await signInFor(store.service(), user);
  return { ...toolsAs(store, () => bearerHeaders(tokens.access_token)), id: user.id };
}

/** Opens advanced tools to users (docs/decisions.md "Agent tools"). */
export async function openAdvanced(store: Store): Promise<void> {
  await store.create('Config', { Name: 'McpAdvancedTools', Value: { McpAdvancedTools: true } });
}
