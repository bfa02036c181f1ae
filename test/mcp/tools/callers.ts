/** Callers of agent tools: keys, and users who signed in. */
import type { TestContext } from 'node:test';
import { bearerHeaders, callTool, keyHeaders, masterHeaders, type ToolAnswer, useTool } from '../../support/mcp.ts';
import { type Client, everything, type Permission, register, signInFor } from '../../support/oauth.ts';
import type { Json, Store } from '../../support/records.ts';
import { setRole, signUp, type User } from '../../support/users.ts';
import { assertToolRefused } from './answers.ts';
import { setFlag } from './restored.ts';

export interface Tools {
  /** Calls a tool, which must succeed; returns its text parsed as JSON. */
  use(name: string, args?: object): Promise<Json>;
  call(name: string, args?: object): Promise<ToolAnswer>;
  /** Calls a tool, which must be refused with the code and a matching text; returns its structured content. */
  refused(name: string, args: object, code: number, words?: RegExp): Promise<Json>;
}

/** @param headers returns the caller's headers; evaluated at each call, because services start before the first test */
export function toolsAs(store: Store, headers: () => Record<string, string>): Tools {
  return {
    use: (name, args = {}) => useTool(store.service(), headers(), name, args),
    call: (name, args = {}) => callTool(store.service(), headers(), name, args),
    refused: async (name, args, code, words) =>
      assertToolRefused(await callTool(store.service(), headers(), name, args), code, words),
  };
}

/** Returns the tools as called with the API key. */
export const byKey = (store: Store): Tools => toolsAs(store, () => keyHeaders(store.service()));

/** Returns the tools as called with the master key. */
export const byMaster = (store: Store): Tools => toolsAs(store, () => masterHeaders(store.service()));

/** A user, and the tools as called by that user. */
export interface Person extends Tools, User {}

const clients = new WeakMap<ReturnType<Store['service']>, Promise<Client>>();

/** Returns the OAuth client that all users of a service share, because registrations per address are limited. */
function clientOf(service: ReturnType<Store['service']>): Promise<Client> {
  const client = clients.get(service) ?? register(service);
  clients.set(service, client);
  return client;
}

/** Returns the tools as called by a new user with exactly these roles, who granted all permissions. */
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

/** Switches advanced tools on for users until the test ends. Reference: agents.md#tool-rights. */
export const openAdvanced = (test: TestContext, store: Store): Promise<void> => setFlag(test, store, 'McpAdvancedTools', true);
