import type { FastifyReply, FastifyRequest } from 'fastify';
import { anonymous, holdsKey, master } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { FunctionCall, FunctionUser } from '../../functions/index.ts';
import { CallerRequest, carryOutRequest } from '../../requests/index.ts';
import type { Credentials, System } from '../../systems/index.ts';
import { wasSent } from '../../systems/system.ts';
import { refuseEarly, sendError, sendReply } from '../endpoint/answer.ts';
import { headerCredentials } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { callersHeaders, type Input, readInput } from './input.ts';

/**
 * Answers a call of a function: application id, then name, then body. Never throws.
 * @param unread why the body could not be read
 */
export async function answerCall(
  services: HttpServices,
  request: FastifyRequest,
  reply: FastifyReply,
  unread?: unknown,
): Promise<void> {
  const asked = new CallerRequest(services, request);
  let credentials: Credentials = headerCredentials(request.headers);
  asked.sent(credentials);
  const read = (): Input => {
    if (unread !== undefined) throw unread;
    const input = readInput(request);
    ({ credentials } = input);
    asked.sent(credentials, input.installationId);
    return input;
  };
  await carryOutRequest(asked, {
    // The functions say themselves what became of their writes.
    mayWrite: false,
    async run() {
      const { appId, name } = request.params as { appId: string; name: string };
      if (appId === '' || name === '') fail('notFound');
      const system = await asked.acquire(appId);
      const json = await services.functions.call(system, name, () => callOf(services, request, asked, system, read()));
      // A GET that makes a record must reach the service each time.
      sendReply(services, reply, { status: 200, json, headers: { 'cache-control': 'no-store' } });
    },
    refuse(error) {
      if (unread === undefined) sendError(services, reply, error);
      else refuseEarly(services, reply, error);
    },
    // docs/decisions.md "Functions and forms".
    log() {
      const { method, url } = request;
      const principal = asked.principal ?? asked.system?.registration.principalFor(credentials) ?? anonymous;
      asked.log({ method, url, statusCode: reply.statusCode, principal });
    },
  });
}

/** What a function is told of its call. @throws TooManyRequests (155) where keys are tried out from the address */
function callOf(
  services: HttpServices,
  { method, headers }: FastifyRequest,
  asked: CallerRequest,
  system: System,
  { fields, isForm, credentials }: Input,
): FunctionCall {
  // A session counts where the function asks for its user.
  const principal = asked.known(system.principalFor(credentials, asked.address) ?? anonymous);
  return {
    input: fields,
    isForm,
    request: {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: callersHeaders(headers),
      ip: asked.address,
      holdsKey: holdsKey(principal),
    },
    user: () => userOf(services, asked, credentials.sessionToken),
    caller: () => asked.callerOf(credentials),
  };
}

/** @throws invalidSession (209) */
async function userOf({ users }: HttpServices, asked: CallerRequest, token: unknown): Promise<FunctionUser | null> {
  if (!wasSent(token)) return null;
  const user = await users.currentUser(asked.contextOf(master), token);
  // The user who was asked for is the caller; a holder of a key acts as the master.
  if (asked.principal?.kind === 'anonymous') asked.known({ kind: 'user', userId: user.objectId, roles: [] });
  return user;
}
