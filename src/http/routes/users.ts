import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { getRecord } from '../../records/index.ts';
import type { PasswordResets, Users } from '../../users/index.ts';
import type { ApiReply, ApiRequest, Endpoint } from '../endpoint.ts';
import { fieldsOf } from '../envelope.ts';

/** SPEC "Users and sessions", "Login and session": all that is not an operation on a record. */
export function userEndpoints(users: Users, resets: PasswordResets): readonly Endpoint[] {
  return [
    {
      method: 'POST',
      path: '/login',
      open: true,
      handle: async ({ context, client, body }) => ok(await users.logIn(context, fieldsOf(body), client.installationId)),
    },
    {
      method: 'GET',
      path: '/login',
      open: true,
      handle: async ({ context, client, query }) =>
        ok(await users.logIn(context, Object.fromEntries(query) as JsonObject, client.installationId)),
    },
    {
      method: 'POST',
      path: '/logout',
      async handle({ context, client }) {
        await users.logOut(context.store, client.sessionToken);
        return ok('{}');
      },
    },
    {
      method: 'POST',
      path: '/requestPasswordReset',
      open: true,
      handle: ({ system, body }) => ok(JSON.stringify(resets.request(system, fieldsOf(body)))),
    },
    {
      method: 'GET',
      path: '/users/me',
      async handle({ context, client, query }) {
        refuseParameters(query);
        return ok(await users.currentUser(context, client.sessionToken));
      },
    },
    {
      method: 'GET',
      path: '/sessions/me',
      async handle({ context, client, query }) {
        const { objectId, principal } = await users.currentSession(context.store, client.sessionToken);
        return ok(await getRecord({ ...context, principal }, '_Session', objectId, query));
      },
    },
  ];
}

const ok = (json: string): ApiReply => ({ status: 200, json, headers: { 'cache-control': 'no-store' } });

/** @throws invalidParameter (102) */
function refuseParameters(query: ApiRequest['query']): void {
  for (const name of query.keys()) fail('invalidParameter', name);
}
