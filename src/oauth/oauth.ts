import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BearerVerdict } from '../access/index.ts';
import type { Addresses } from '../config/index.ts';
import { ServiceError, serviceError } from '../errors/fail.ts';
import { renderError, retryAfterOf } from '../errors/render.ts';
import { errorOfWrite } from '../errors/system-faults.ts';
import { chooseLanguage } from '../kernel/language.ts';
import { networkOf } from '../kernel/network.ts';
import { type Conditions, faultPlace, type Observations } from '../observe/index.ts';
import type { Progress } from '../records/index.ts';
import { withSystem } from '../requests/index.ts';
import type { System, Systems } from '../systems/index.ts';
import { markOf } from '../users/index.ts';
import { endpoints, mountOf } from './addresses.ts';
import { type Fetch, mayBeFetched, ssrfSafeFetch } from './clients/ssrf-safe-fetch.ts';
import { hijackReply, queryValue } from './http-adapter.ts';
import { isGone, type PageResult, showInteraction, takeInteraction, type Visit } from './interaction.ts';
import { Issuers } from './issuers.ts';
import { registerMetadata } from './metadata.ts';
import { errorPage, pageHeaders, redirectSources } from './pages/page.ts';
import type { SignInError } from './pages/texts.ts';
import { keyOf } from './storage/encryption.ts';

/** Rate limiter by client address. */
export interface AddressCounter {
  /** @throws TooManyRequests (155) */
  count(address: string): void;
}

/** Dependencies of the authorization servers. */
export interface OAuthParts {
  readonly systems: Systems;
  /** Reports faults that requests meet. */
  readonly conditions: Pick<Conditions, 'met'>;
  /** Receives sign-ins. */
  readonly observations: Pick<Observations, 'observe'>;
  /** The service's public URL, without a trailing slash. */
  readonly addresses: Pick<Addresses, 'base'>;
  /** Secret of this installation, from which encryption keys are derived. */
  readonly secret: string;
  /** Requests per minute from one address; 0: no limit. */
  readonly rateLimits: { readonly login: number };
  /** Creates a rate limiter. @param max requests per minute from one address; 0: `null`, no limit */
  readonly limitOf: (max: number) => AddressCounter | null;
  /** Replaces the default, which reaches only the public internet; for tests. */
  readonly fetch?: Fetch;
}

/**
 * Requests per minute from one address that register a client (a row kept for a day), start a sign-in (a row kept for an hour), or make the service
 * fetch a client's metadata document.
 */
export const REGISTRATIONS_PER_MINUTE = 60;
export const AUTHORIZATIONS_PER_MINUTE = 300;
export const FETCHES_PER_MINUTE = 60;

/**
 * Sign-in for agents: each system is an OAuth 2.1 authorization server of its own (docs/adr/0014-sign-in.md). Reference: sign-in.md#authorization.
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

  /** Checks an access token. @param system held by the caller */
  async bearer(system: System, token: string): Promise<BearerVerdict> {
    const { tokens, items } = await this.#issuers.of(system);
    const said = await tokens.read(token);
    if (!said) return { kind: 'unknown' };
    const { isExpired, userId, scopes, clientId, grant } = said;
    if (isExpired) return { kind: 'ended' };
    const [isInForce, mark] = await Promise.all([items.exists('Grant', grant), markOf(system.store, userId)]);
    // Permanent, like the end of sessions: an unblocked user must sign in again.
    if (isInForce && mark === null) await items.removeFamily(grant);
    // A changed password ends access tokens, as it ends refresh tokens.
    return isInForce && mark !== null && keyOf('Mark', mark) === said.mark
      ? { kind: 'valid', userId, scopes, clientId }
      : { kind: 'ended' };
  }

  /** Registers the sign-in endpoints. Reference: sign-in.md#issuer-and-metadata. */
  async register(server: FastifyInstance): Promise<void> {
    registerMetadata(server, this.#parts);
    const page = `${mountOf(':appId')}/interaction/:uid`;
    server.get(page, (request, reply) => this.#page(request, reply, showInteraction));
    server.post(page, { bodyLimit: MAX_FORM_BYTES }, (request, reply) => this.#page(request, reply, takeInteraction));
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
      // Non-empty ids only: the provider would take an empty one for the endpoint itself.
      provided('GET', endpoints.authorization, null, '/:uid(^[\\w-]+$)');
      provided('GET', endpoints.jwks);
      provided('POST', endpoints.token);
      provided('POST', endpoints.registration, this.#registrations);
      provided('POST', endpoints.revocation);
    });
  }

  /**
   * Applies the rate limit of document fetches. A document is fetched when a client appears, and again during the user's interaction if the cached
   * one has expired.
   */
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

  /** Passes a request to the provider of its system. */
  async #provide(request: FastifyRequest, reply: FastifyReply, { endpoint, limit }: ProviderEndpoint): Promise<void> {
    const isPage = endpoint === endpoints.authorization;
    const { appId, uid } = request.params as { readonly appId: string; readonly uid?: string };
    try {
      limit?.count(request.ip);
      const isKnown = await withSystem(this.#parts.systems, appId, async (system) => {
        const { handle } = await (await this.#issuers.of(system)).serve();
        hijackReply(reply);
        const { raw, ip } = request;
        // Built from the route, not the path as sent, because the provider parses paths differently.
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

  async #page(request: FastifyRequest, reply: FastifyReply, take: (visit: Visit) => Promise<PageResult>): Promise<void> {
    const { appId } = request.params as { readonly appId: string };
    const countAttempt = () => this.#attempts?.count(request.ip);
    const visitor: Visitor = { address: request.ip, hasWritten: false };
    try {
      const outcome = await withSystem(this.#parts.systems, appId, async (system) => {
        const issuer = await this.#issuers.of(system);
        const { provider } = await issuer.serve();
        const visit = {
          system,
          addresses: issuer.addresses,
          provider,
          request,
          reply,
          countAttempt,
          observations: this.#parts.observations,
        };
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

  /** Reports unexpected faults. */
  #report(error: unknown): void {
    if (!(error instanceof ServiceError)) this.#parts.conditions.met('a sign-in for an agent failed', faultPlace(error), error);
  }

  /** @param isPage whether a browser displays the answer */
  #refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown, isPage: boolean): void {
    const error = errorOfWrite(thrown);
    const { status, why } = endOf(error);
    if (why === 'fault') this.#report(error);
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    reply.code(status);
    if (isPage) {
      const language = chooseLanguage({
        requested: queryValue(request, 'lang'),
        locales: queryValue(request, 'ui_locales'),
        acceptLanguage: request.headers['accept-language'],
      });
      reply.headers(pageHeaders()).send(errorPage(language, why));
    } else reply.type('application/json; charset=utf-8').send(renderError(error).json);
  }
}

/** Maximum size of the form: the longest name and password with every character percent-encoded. */
const MAX_FORM_BYTES = 32 * 1024;

/** The client for whose request something is done. */
interface Visitor extends Progress {
  /** The client's address, also behind proxies. */
  readonly address: string;
  /** The rate limit error, if a document was not fetched because of it. */
  refusal?: unknown;
}

/** An endpoint that the provider serves. */
interface ProviderEndpoint {
  readonly endpoint: string;
  readonly limit: AddressCounter | null;
}

/** Returns the query of a URL with its `?`. */
function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}

/** Returns how an error is presented on a page. */
function endOf(error: unknown): { readonly status: number; readonly why: SignInError } {
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
  // An error of the provider about the client.
  return (error as { readonly expose?: unknown }).expose === true
    ? { status: 400, why: 'badRequest' }
    : { status: 500, why: 'fault' };
}
