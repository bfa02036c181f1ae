import type { FastifyReply, FastifyRequest } from 'fastify';
import { anonymous, holdsKey, master, type Principal } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { FunctionCall, FunctionUser } from '../../functions/index.ts';
import type { Credentials, System } from '../../systems/index.ts';
import { wasSent } from '../../systems/system.ts';
import { principalFor } from '../../users/index.ts';
import { refuseEarly, sendError, sendReply } from '../answer.ts';
import { noteRequest, rememberAddress } from '../audit.ts';
import type { Edge } from '../edge.ts';
import { headerCredentials } from '../envelope.ts';
import { callersHeaders } from './headers.ts';
import { type Input, readInput } from './input.ts';

/** One call on its way to its answer. */
class Call {
  readonly #edge: Edge;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  /** By `performance.now()`. */
  readonly #started = performance.now();
  /** Who calls, as far as the call was read: who holds a key; a session's user where the function asked for him. */
  #principal: Principal | null = null;
  #credentials: Credentials;
  #installationId: string | null = null;

  constructor(edge: Edge, request: FastifyRequest, reply: FastifyReply) {
    this.#edge = edge;
    this.#request = request;
    this.#reply = reply;
    this.#credentials = headerCredentials(request.headers);
    rememberAddress(request);
  }

  /**
   * Has the function answer.
   * @param read reads what the call brings, when the function is found
   * @throws userFunctionNotFound, what `read` throws, what the function answers with
   */
  async answer(system: System, name: string, read: () => Input): Promise<void> {
    const json = await this.#edge.functions.call(system, name, () => this.#bring(system, read()));
    // A GET that makes a record must reach the service each time.
    sendReply(this.#edge, this.#reply, { status: 200, json, headers: { 'cache-control': 'no-store' } });
  }

  #bring(system: System, { fields, isForm, credentials, installationId }: Input): FunctionCall {
    this.#credentials = credentials;
    this.#installationId = installationId;
    const { method, headers, ip } = this.#request;
    // A session counts where the function asks for its user.
    this.#principal = system.principalFor(credentials, ip ?? '') ?? anonymous;
    return {
      input: fields,
      isForm,
      request: {
        method: method === 'POST' ? 'POST' : 'GET',
        headers: callersHeaders(headers),
        // The framework has none for a connection that is gone.
        ip: ip ?? '',
        holdsKey: holdsKey(this.#principal),
      },
      user: () => this.#user(system, credentials.sessionToken),
      caller: () => principalFor(system, credentials, ip ?? ''),
    };
  }

  /** @throws invalidSession (209) */
  async #user({ appId, store }: System, token: unknown): Promise<FunctionUser | null> {
    if (!wasSent(token)) return null;
    const { users, hooks } = this.#edge;
    const text = await users.currentUser({ appId, store, principal: master, hooks, referer: null }, token);
    const { sessionToken: _secret, ...user } = JSON.parse(text);
    // Who was asked for is who called; a holder of a key acts as master.
    if (this.#principal?.kind === 'anonymous') this.#principal = { kind: 'user', userId: user.objectId, roles: [] };
    return user;
  }

  /** Has the log of the system hear of the call (docs/decisions.md "Functions and forms"). */
  note(system: System): void {
    noteRequest(this.#edge, system, this.#request, this.#reply, {
      method: this.#request.method,
      principal: this.#principal ?? system.registration.principalFor(this.#credentials) ?? anonymous,
      installationId: this.#installationId,
      credentials: this.#credentials,
      started: this.#started,
    });
  }
}

/**
 * Answers a call of a function: application id, then name, then body. Never throws.
 * @param unread why the body could not be read
 */
export async function answerCall(edge: Edge, request: FastifyRequest, reply: FastifyReply, unread?: unknown): Promise<void> {
  const call = new Call(edge, request, reply);
  const read = () => {
    if (unread !== undefined) throw unread;
    return readInput(request);
  };
  let system: System | undefined;
  try {
    const { appId, name } = request.params as { appId: string; name: string };
    if (appId === '' || name === '') fail('notFound');
    system = await edge.systems.acquire(appId);
    if (!system) fail('unauthorized');
    await call.answer(system, name, read);
  } catch (error) {
    if (unread === undefined) sendError(edge, reply, error);
    else refuseEarly(edge, reply, error);
  } finally {
    if (system) {
      call.note(system);
      system.release();
    }
  }
}
