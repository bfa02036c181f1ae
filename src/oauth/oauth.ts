import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BearerVerdict } from '../access/index.ts';
import type { Addresses } from '../config/index.ts';
import { ServiceError, serviceError } from '../errors/fail.ts';
import { renderError, retryAfterOf } from '../errors/render.ts';
import { endOfWrite } from '../errors/system-faults.ts';
import { chooseLanguage } from '../kernel/language.ts';
import { networkOf } from '../kernel/network.ts';
import { type Conditions, faultPlace } from '../observe/index.ts';
import type { Progress } from '../records/index.ts';
import { withSystem } from '../requests/index.ts';
import type { System, Systems } from '../systems/index.ts';
import { markOf } from '../users/index.ts';
import { endpoints, mountOf } from './addresses.ts';
import { type Fetch, mayBeFetched, ssrfSafeFetch } from './clients/ssrf-safe-fetch.ts';
import { handOver, queryValue } from './http-adapter.ts';
import { isGone, type Outcome, showInteraction, takeInteraction, type Visit } from './interaction.ts';
import { Issuers } from './issuers.ts';
import { registerMetadata } from './metadata.ts';
import { deadEndPage, pageHeaders, redirectSources } from './pages/page.ts';
import type { DeadEnd } from './pages/texts.ts';
import { keyOf } from './storage/encryption.ts';

/** Counts requests of an address. */
export interface AddressCounter {
  /** @throws TooManyRequests (155) */
  count(address: string): void;
}

/** What the authorization servers of all systems are made of. */
export interface OAuthParts {
  readonly systems: Systems;
  /** Told of faults that requests meet. */
  readonly conditions: Pick<Conditions, 'met'>;
  /** The service's address as clients see it, without a slash at its end. */
  readonly addresses: Pick<Addresses, 'base'>;
  /** Of this installation: what is kept is sealed with it. */
  readonly secret: string;
  /** Requests a minute from one address; 0: no limit. */
  readonly rateLimits: { readonly login: number };
  /** Makes a limit of requests a minute from one address; 0: none. */
  readonly limitOf: (most: number) => AddressCounter | null;
  /** In place of the one that reaches the public internet alone. */
  readonly fetch?: Fetch;
}

/**
 * Requests a minute from one address: to register a client, which leaves a row for a day; to begin to sign in, which leaves one for an
 * hour; that make the service read a client's metadata document.
 */
const REGISTRATIONS_PER_MINUTE = 60;
const AUTHORIZATIONS_PER_MINUTE = 300;
const FETCHES_PER_MINUTE = 60;

/**
 * Sign-in for agents (SPEC "Authentication: Agent-tool layer"; docs/adr/0014-sign-in.md): each system is an OAuth 2.1 authorization server
 * of its own.
 */
export class OAuth {
  readonly #parts: OAuthParts;
  readonly #issuers: Issuers;
  readonly #attempts: AddressCounter | null;
  readonly #registrations: AddressCounter | null;
  readonly #authorizations: AddressCounter | null;
  readonly #fetches: AddressCounter | null;
  readonly #visitors = new AsyncLocalStorage<Visitor>();

  constructor(parts: OAuthParts) {
    const { addresses, secret, limitOf, rateLimits, fetch = ssrfSafeFetch } = parts;
    this.#parts = parts;
    this.#issuers = new Issuers({
      addresses,
      secret,
      fetch,
      network: () => networkOf(this.#visitors.getStore()?.address ?? ''),
      progress: () => this.#visitors.getStore() ?? { hasWritten: false },
      mayFetch: (address) => mayBeFetched(address) && this.#countFetch(),
      report: (error) => this.#report(error),
    });
    this.#attempts = limitOf(rateLimits.login);
    this.#registrations = limitOf(REGISTRATIONS_PER_MINUTE);
    this.#authorizations = limitOf(AUTHORIZATIONS_PER_MINUTE);
    this.#fetches = limitOf(FETCHES_PER_MINUTE);
  }

  /** What an access token is good for. @param system held by the caller */
  async bearer(system: System, token: string): Promise<BearerVerdict> {
    const { tokens, items } = await this.#issuers.of(system);
    const said = await tokens.read(token);
    if (!said) return { kind: 'unknown' };
    const { isOver, userId, scopes, clientId, grant } = said;
    if (isOver) return { kind: 'ended' };
    const [isInForce, mark] = await Promise.all([items.isThere('Grant', grant), markOf(system.store, userId)]);
    // For good, as sessions do: who is unblocked later signs in anew.
    if (isInForce && mark === null) await items.removeFamily(grant);
    // A password that has changed since ends the token, as it ends refresh tokens.
    return isInForce && mark !== null && keyOf('Mark', mark) === said.mark
      ? { kind: 'valid', userId, scopes, clientId }
      : { kind: 'ended' };
  }

  /** Adds the addresses of CONTRACT "Addresses" to a server. */
  async register(server: FastifyInstance): Promise<void> {
    registerMetadata(server, this.#parts);
    const page = `${mountOf(':appId')}/interaction/:uid`;
    server.get(page, (request, reply) => this.#page(request, reply, showInteraction));
    server.post(page, { bodyLimit: FORM_BYTES }, (request, reply) => this.#page(request, reply, takeInteraction));
    await server.register(async (scope) => {
      // The provider reads bodies itself.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
      const provided = (method: 'GET' | 'POST', endpoint: string, limit: AddressCounter | null = null, below = '') =>
        scope.route({
          method,
          url: mountOf(':appId') + endpoint + below,
          handler: (request, reply) => this.#provide(request, reply, { endpoint, limit }),
        });
      provided('GET', endpoints.authorization, this.#authorizations);
      // Ids alone: with an empty one the provider would take it for the endpoint itself.
      provided('GET', endpoints.authorization, null, '/:uid(^[\\w-]+$)');
      provided('GET', endpoints.jwks);
      provided('POST', endpoints.token);
      provided('POST', endpoints.registration, this.#registrations);
      provided('POST', endpoints.revocation);
    });
  }

  /** Documents are read when a client comes, and again while a user is at a page, where they were read a while ago. */
  #countFetch(): boolean {
    const visitor = this.#visitors.getStore();
    try {
      this.#fetches?.count(visitor?.address ?? '');
      return true;
    } catch (error) {
      if (visitor) visitor.refusal = error;
      return false;
    }
  }

  /** Hands a request over to the provider of its system. */
  async #provide(request: FastifyRequest, reply: FastifyReply, { endpoint, limit }: Provided): Promise<void> {
    const isPage = endpoint === endpoints.authorization;
    const { appId, uid } = request.params as { readonly appId: string; readonly uid?: string };
    try {
      limit?.count(request.ip);
      const isKnown = await withSystem(this.#parts.systems, appId, async (system) => {
        const { handle } = await (await this.#issuers.of(system)).serve();
        handOver(reply);
        const { raw, ip } = request;
        // Of the route, not of the path that was sent: the provider reads paths in a way of its own.
        raw.url = (uid === undefined ? endpoint : `${endpoint}/${uid}`) + queryOf(raw.url ?? '');
        await this.#visitors.run({ address: ip, hasWritten: false }, () => handle(raw, reply.raw));
        return true;
      });
      if (!isKnown) this.#refuse(request, reply, serviceError('notFound'), isPage);
    } catch (error) {
      if (reply.sent) throw error;
      this.#refuse(request, reply, error, isPage);
    }
  }

  async #page(request: FastifyRequest, reply: FastifyReply, take: (visit: Visit) => Promise<Outcome>): Promise<void> {
    const { appId } = request.params as { readonly appId: string };
    const countAttempt = () => this.#attempts?.count(request.ip);
    const visitor: Visitor = { address: request.ip, hasWritten: false };
    try {
      const outcome = await withSystem(this.#parts.systems, appId, async (system) => {
        const issuer = await this.#issuers.of(system);
        const { provider } = await issuer.serve();
        const visit = { system, addresses: issuer.addresses, provider, request, reply, countAttempt };
        return this.#visitors.run(visitor, () => take(visit));
      });
      if (!outcome) this.#refuse(request, reply, serviceError('notFound'), true);
      else if ('goTo' in outcome) reply.code(303).headers({ location: outcome.goTo, 'cache-control': 'no-store' }).send('');
      else {
        const { status, html, redirectUri, retryAfter } = outcome;
        if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
        reply
          .code(status)
          .headers(pageHeaders(redirectSources(redirectUri)))
          .send(html);
      }
    } catch (error) {
      this.#refuse(request, reply, visitor.refusal ?? error, true);
    }
  }

  /** Tells the log of a fault of ours. */
  #report(error: unknown): void {
    if (!(error instanceof ServiceError)) this.#parts.conditions.met('a sign-in for an agent failed', faultPlace(error), error);
  }

  /** @param isPage whether a browser shows the answer to somebody */
  #refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown, isPage: boolean): void {
    const error = endOfWrite(thrown);
    const { status, why } = endOf(error);
    if (why === 'fault') this.#report(error);
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    reply.code(status);
    if (isPage) {
      const language = chooseLanguage({
        asked: queryValue(request, 'lang'),
        locales: queryValue(request, 'ui_locales'),
        acceptLanguage: request.headers['accept-language'],
      });
      reply.headers(pageHeaders()).send(deadEndPage(language, why));
    } else reply.type('application/json; charset=utf-8').send(renderError(error).json);
  }
}

/** A name and a password of the longest kind, every character of them percent-encoded. */
const FORM_BYTES = 32 * 1024;

/** Whose request it is that something is done for. */
interface Visitor extends Progress {
  /** As the server tells it, behind proxies too. */
  readonly address: string;
  /** Why a document was not read for him: he has had too many read. */
  refusal?: unknown;
}

/** An endpoint that the provider answers. */
interface Provided {
  readonly endpoint: string;
  readonly limit: AddressCounter | null;
}

/** The query of an address, with its `?`. */
function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}

/** What an error is to who is at a page. */
function endOf(error: unknown): { readonly status: number; readonly why: DeadEnd } {
  if (error instanceof ServiceError) {
    const why =
      error.key === 'notFound' || error.key === 'unauthorized'
        ? 'unknown'
        : error.key === 'tooManyRequests'
          ? 'tooMany'
          : 'fault';
    return { status: error.status, why };
  }
  if (isGone(error)) return { status: 400, why: 'gone' };
  // Of the provider, about the client.
  return (error as { readonly expose?: unknown }).expose === true
    ? { status: 400, why: 'badRequest' }
    : { status: 500, why: 'fault' };
}
