import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { networkOf } from '../../kernel/network.ts';
import { readRecord } from '../../records/index.ts';
import type { ClpAction } from '../../schema/model.ts';
import type { JsonText } from '../../storage/port.ts';
import type { PasswordResets, SignedIn, Users } from '../../users/index.ts';
import type { ApiReply, ApiRequest, Client, Endpoint } from '../endpoint/endpoint.ts';
import { fieldsOf } from '../endpoint/parse-request.ts';
import type { RateLimit } from '../endpoint/rate-limit.ts';
import { readOptions } from './records.ts';

/**
 * Endpoints of users and sessions that are not operations on a record. Reference: users.md#log-in.
 * @param limit rate limit for endpoints that need only the application id, in a batch too
 */
export function userEndpoints(users: Users, resets: PasswordResets, limit: RateLimit | null): readonly Endpoint[] {
  const rateLimited = rateLimitedBy(limit);
  const endpoints: readonly Endpoint[] = [
    {
      method: 'POST',
      path: '/login',
      open: true,
      handle: rateLimited(async ({ context, client, body }) =>
        signedIn(await users.logIn(context, fieldsOf(body), loginClient(client))),
      ),
    },
    {
      method: 'GET',
      path: '/login',
      open: true,
      handle: rateLimited(async ({ context, client, query }) =>
        signedIn(await users.logIn(context, Object.fromEntries(query) as JsonObject, loginClient(client))),
      ),
    },
    {
      method: 'POST',
      path: '/logout',
      async handle(request) {
        await users.logOut(request.context.store, tokenOf(request, 'delete', '_Session'));
        return ok('{}');
      },
    },
    {
      method: 'POST',
      path: '/requestPasswordReset',
      open: true,
      handle: rateLimited(async ({ system, body }) => ok(JSON.stringify(resets.request(system, fieldsOf(body))))),
    },
    {
      method: 'GET',
      path: '/users/me',
      async handle(request) {
        refuseParameters(request.query);
        const token = tokenOf(request, 'get', '_User');
        return signedIn({ user: await users.currentUserText(request.context, token), sessionToken: token as string });
      },
    },
    {
      method: 'GET',
      path: '/sessions/me',
      async handle(request) {
        const { context, query } = request;
        const { objectId, principal } = await users.currentSession(context.store, tokenOf(request, 'get', '_Session'));
        return ok(await readRecord({ ...context, principal }, '_Session', objectId, readOptions(query)));
      },
    },
  ];
  return endpoints.map((endpoint) => ({ ...endpoint, maxBodyBytes: limits.smallBodyBytes }));
}

const loginClient = (client: Client) => ({
  installationId: client.installationId,
  network: networkOf(client.address),
  isGone: () => client.isGone(),
});

type Handle = Endpoint['handle'];

const rateLimitedBy =
  (limit: RateLimit | null) =>
  (handle: Handle): Handle => {
    if (limit === null) return handle;
    return (request) => {
      limit.count(request.client.address);
      return handle(request);
    };
  };

const ok = (json: JsonText): ApiReply => ({ status: 200, json, headers: { 'cache-control': 'no-store' } });

/** Appends the session token to the user's JSON. */
const signedIn = ({ user, sessionToken }: SignedIn): ApiReply =>
  ok(`${user.slice(0, -1)},"sessionToken":${JSON.stringify(sessionToken)}}`);

/** Returns the session token as sent; if a wrong key was sent too, that is refused first. @throws permissionDenied (119) */
function tokenOf({ client, principal }: ApiRequest, action: ClpAction, className: string): unknown {
  if (principal.kind === 'invalid') fail('permissionDenied', action, className);
  return client.sessionToken;
}

/** @throws invalidParameter (102) */
function refuseParameters(query: ApiRequest['query']): void {
  for (const name of query.keys()) fail('invalidParameter', name);
}
