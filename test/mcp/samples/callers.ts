/** Callers of agent tools: keys, signed-in users, and invalid credentials. */
import assert from 'node:assert/strict';
import { bearerHeaders, keyHeaders, masterHeaders } from '../../support/mcp.ts';
import { agentUser, askEndpoint, everything, type Permission, signInFor } from '../../support/oauth.ts';
import type { Service } from '../../support/service.ts';
import { changeUser, setRole, signUp } from '../../support/users.ts';
import { addSystem, callSystem, type System } from '../../systems/cli.ts';
import type { World } from '../world.ts';

export interface Caller {
  readonly headers: Record<string, string>;
  /** The `createdBy` and `updatedBy` of records that this caller writes. */
  readonly actor: string;
}

/** A user who signs in. */
interface Person {
  readonly role?: 'Admin' | 'Sales' | 'ReadOnly';
  readonly permissions: readonly Permission[];
  /** The permissions ticked on the consent page; default: all that are offered. */
  readonly granted?: readonly Permission[];
  /** The user's permissions after signing in; default: unchanged. */
  readonly left?: readonly Permission[];
}

const view = ['mcp:view'] as const;

/** Named like the columns of the table of outcomes. */
export const people = {
  admin: { role: 'Admin', permissions: everything },
  adminWhoViews: { role: 'Admin', permissions: view },
  sales: { role: 'Sales', permissions: everything },
  salesWhoViews: { role: 'Sales', permissions: view },
  readOnly: { role: 'ReadOnly', permissions: everything },
  noRole: { permissions: everything },
  noPermission: { role: 'Admin', permissions: view, left: [] },
  fewScopes: { role: 'Admin', permissions: everything, granted: view },
  manyScopes: { role: 'Admin', permissions: everything, left: ['mcp:view', 'mcp:create'] },
} as const satisfies Record<string, Person>;

/** Signs a person in. */
export async function signIn(service: Service, world: World, { role, permissions, granted, left }: Person): Promise<Caller> {
  const user = await signUp(world, { mcpPermissions: permissions });
  if (role) await setRole(world, user.id, role);
  const { tokens } = await signInFor(service, user, granted ? { granted } : {});
  if (left) await changeUser(world, user, { mcpPermissions: left });
  return { headers: bearerHeaders(tokens.access_token), actor: user.id };
}

export const keys = (service: Service): Record<'masterKey' | 'apiKey', Caller> => ({
  masterKey: { headers: masterHeaders(service), actor: 'master' },
  apiKey: { headers: keyHeaders(service), actor: 'master' },
});

type Refused = Readonly<Record<string, Record<string, string>>>;

/** Headers without any credential: 403. */
export const withoutCredential = ({ appId }: Service, session: string): Refused => ({
  'nothing at all': {},
  'the application id alone': { 'X-Platform-Application-Id': appId },
  'empty credentials': { 'X-Platform-API-Key': '', 'X-Platform-Master-Key': '' },
  'a session token, which is none for agents': { 'X-Platform-Session-Token': session },
});

/** Credentials that this system does not know: 200 with the text of a refusal. */
export async function wrongCredentials(service: Service): Promise<Refused> {
  const { apiKey, masterKey } = service;
  const other = await addSystem(service, '--name', 'Other');
  return {
    'a wrong API key': keyHeaders({ apiKey: 'wrong', masterKey }),
    'a wrong master key': masterHeaders({ apiKey, masterKey: 'wrong' }),
    "the master key under the API key's header": keyHeaders({ apiKey: masterKey, masterKey }),
    "the API key under the master key's header": masterHeaders({ apiKey, masterKey: apiKey }),
    'a token that nobody signed': bearerHeaders('nothing.of.ours'),
    'a master key as a token': bearerHeaders(masterKey),
    'a key of another system': keyHeaders(other),
    'a token of another system': bearerHeaders(await tokenOf(service, other)),
  };
}

async function tokenOf(service: Service, system: System): Promise<string> {
  const call: Service['call'] = (method, path, options) => callSystem(service, system, method, path, options);
  const where = { url: service.url, appId: system.appId };
  const { tokens } = await signInFor(where, await agentUser({ call }));
  return tokens.access_token;
}

/** Tokens that this system signed and that have ended: 401. */
export async function endedTokens(service: Service, world: World): Promise<Refused> {
  const token = async (after: (user: { id: string }) => Promise<unknown>) => {
    const user = await agentUser(service);
    const { client, tokens } = await signInFor(service, user);
    await after(user);
    return { client, headers: bearerHeaders(tokens.access_token), token: tokens.access_token };
  };
  const revoked = await token(async () => {});
  const reply = await askEndpoint(service, 'revoke', revoked.client, { token: revoked.token });
  assert.equal(reply.status, 200, reply.text);
  return {
    'the token of a user who is blocked': (await token((user) => changeUser(world, user, { active: false }))).headers,
    'the token of a user who is gone': (await token(({ id }) => world.remove('_User', id))).headers,
    'a token that was revoked': revoked.headers,
  };
}
