/** Callers of agent tools: keys, and users who signed in. */
import type { TestContext } from 'node:test';
import { bearerHeaders, callTool, keyHeaders, masterHeaders, type ToolAnswer, useTool } from '../../support/mcp.ts';
import { type Client, everything, type Permission, register, signInFor } from '../../support/oauth.ts';
import type { Json, Store } from '../../support/records.ts';
import { setRole, signUp, type User } from '../../support/users.ts';
import { assertToolRefused } from './answers.ts';
import { setFlag } from './restored.ts';

export interface Tools {
  /** A call that must succeed; answers what its text holds. */
  use(name: string, args?: object): Promise<Json>;
  call(name: string, args?: object): Promise<ToolAnswer>;
  /** A call that must be refused with a code, in words that fit; answers its structured content. */
  refused(name: string, args: object, code: number, words?: RegExp): Promise<Json>;
}

/** @param headers the caller's; asked for at each call, since services start before the first test */
export function toolsAs(store: Store, headers: () => Record<string, string>): Tools {
  return {
    use: (name, args = {}) => useTool(store.service(), headers(), name, args),
    call: (name, args = {}) => callTool(store.service(), headers(), name, args),
    refused: async (name, args, code, words) =>
      assertToolRefused(await callTool(store.service(), headers(), name, args), code, words),
  };
}

/** The tools as the holder of an API key. */
export const byKey = (store: Store): Tools => toolsAs(store, () => keyHeaders(store.service()));

/** The tools as the holder of the master key. */
export const byMaster = (store: Store): Tools => toolsAs(store, () => masterHeaders(store.service()));

/** A user, and the tools as he calls them. */
export interface Person extends Tools, User {}

const clients = new WeakMap<ReturnType<Store['service']>, Promise<Client>>();

/** One client for all users of a service: registrations of an address are limited. */
function clientOf(service: ReturnType<Store['service']>): Promise<Client> {
  const client = clients.get(service) ?? register(service);
  clients.set(service, client);
  return client;
}

/** The tools as a user who signed in and granted all that he may, with these roles and no others. */
export async function byUser(
  store: Store,
  roles: readonly string[],
  permissions: readonly Permission[] = everything,
): Promise<Person> {
  const user = await signUp(store, { mcpPermissions: permissions, name: 'Noa' });
  for (const name of roles) await setRole(store, user.id, name);
  const service = store.service();
  const client = await clientOf(service);
  const { tokens } = await signInFor(service, user, { client });
  return { ...user, ...toolsAs(store, () => bearerHeaders(tokens.access_token)) };
}

/** Opens advanced tools to users until a test is over (docs/decisions.md "Agent tools"). */
export const openAdvanced = (test: TestContext, store: Store): Promise<void> => setFlag(test, store, 'McpAdvancedTools', true);
