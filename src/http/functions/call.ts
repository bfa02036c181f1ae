import type { FastifyReply, FastifyRequest } from 'fastify';
import { anonymous, holdsKey, master } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { FunctionCall, FunctionUser } from '../../functions/index.ts';
import { sentKey } from '../../idempotency/index.ts';
import { CallerRequest, executeRequest } from '../../requests/index.ts';
import type { Credentials, System } from '../../systems/index.ts';
import { wasSent } from '../../systems/system.ts';
import { refuseEarly, sendError, sendReply } from '../endpoint/answer.ts';
import type { LongBodies } from '../endpoint/long-bodies.ts';
import { headerCredentials } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { callOnce } from './call-once.ts';
import { type CallInput, callersHeaders, readInput } from './input.ts';

/** What answers calls of functions. */
export interface Called {
  readonly services: HttpServices;
  readonly long: LongBodies;
}

/**
 * Answers a call of a function, checking application id, name and body in this order. Never throws.
 * @param unread the error if the body could not be read
 */
export async function answerCall(
  { services, long }: Called,
  request: FastifyRequest,
  reply: FastifyReply,
  unread?: unknown,
): Promise<void> {
  // A GET may create a record, so no cache may answer it, nor repeat a refusal.
  reply.header('cache-control', 'no-store');
  const callerRequest = new CallerRequest(services, request);
  let credentials: Credentials = headerCredentials(request.headers);
  callerRequest.recordCredentials(credentials);
  const read = async (system: System): Promise<CallInput> => {
    if (unread !== undefined) throw unread;
    const input = await readInput(request, system.appId, (text, bounds) => long.read(request, reply, text, bounds));
    ({ credentials } = input);
    callerRequest.recordCredentials(credentials, input.installationId);
    return input;
  };
  await executeRequest(callerRequest, {
    // Functions report the outcome of their writes themselves.
    mayWrite: false,
    async run() {
      const { appId, name } = request.params as { appId: string; name: string };
      if (appId === '' || name === '') fail('notFound');
      const system = await callerRequest.acquire(appId);
      const sent = request.method === 'POST' ? sentKey(request.headers) : undefined;
      let answered = { status: 200, isReplay: false };
      const call = async (): Promise<FunctionCall> => {
        const input = await read(system);
        const plain = callOf(services, request, callerRequest, system, input);
        if (!sent) return plain;
        const principal = callerRequest.principal ?? anonymous;
        const onAnswer = (answer: typeof answered) => {
          answered = answer;
        };
        const { store } = system;
        return { ...plain, once: callOnce({ store, sent, principal, credentials, input: input.fields, request, onAnswer }) };
      };
      const json = await services.functions.call(system, name, call);
      const { status, isReplay } = answered;
      const headers = { 'cache-control': 'no-store', ...(isReplay && { 'idempotency-replayed': 'true' }) };
      sendReply(services, reply, { status, json, headers });
    },
    refuse(error) {
      if (unread === undefined) sendError(services, reply, error);
      else refuseEarly(services, reply, error);
    },
    // Calls are logged as the caller that their keys identify. Reference: audit.md#request-log.
    log() {
      const { method, url } = request;
      const principal = callerRequest.principal ?? callerRequest.system?.registration.principalFor(credentials) ?? anonymous;
      callerRequest.log({ method, url, statusCode: reply.statusCode, principal });
    },
  });
}

/** Returns the call as passed to the function. @throws TooManyRequests (155) after too many wrong keys from the address */
function callOf(
  services: HttpServices,
  { method, headers }: FastifyRequest,
  callerRequest: CallerRequest,
  system: System,
  { fields, isForm, credentials }: CallInput,
): FunctionCall {
  // Only the keys are looked at here; `user` and `caller` resolve a session.
  const principal = callerRequest.setCaller(system.principalFor(credentials, callerRequest.address) ?? anonymous);
  return {
    input: fields,
    isForm,
    request: {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: callersHeaders(headers),
      ip: callerRequest.address,
      holdsKey: holdsKey(principal),
    },
    user: () => userOf(services, callerRequest, credentials.sessionToken),
    caller: () => callerRequest.callerOf(credentials),
  };
}

/** @throws invalidSession (209) */
async function userOf({ users }: HttpServices, callerRequest: CallerRequest, token: unknown): Promise<FunctionUser | null> {
  if (!wasSent(token)) return null;
  const user = await users.currentUser(callerRequest.contextOf(master), token);
  // The resolved user becomes the caller in the log; with a key, the caller stays the master.
  if (callerRequest.principal?.kind === 'anonymous') callerRequest.setCaller({ kind: 'user', userId: user.objectId, roles: [] });
  return user;
}
