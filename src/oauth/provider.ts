import type { EventEmitter } from 'node:events';
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { agentPermissions } from '../access/index.ts';
import { isPassing } from '../errors/fail.ts';
import { renderError, retryAfterOf } from '../errors/render.ts';
import { chooseLanguage } from '../kernel/language.ts';
import { errorToReport, type Progress } from '../records/index.ts';
import { endpoints, type IssuerAddresses } from './addresses.ts';
import { normalizeClient } from './clients/metadata.ts';
import type { Fetch } from './clients/ssrf-safe-fetch.ts';
import type { SystemKeys } from './keys.ts';
import { errorPage, pageHeaders } from './pages/page.ts';
import { interactionPrompts } from './policy.ts';
import { normalizeRequest } from './request.ts';
import { ItemAdapter } from './storage/adapter.ts';
import { keyOf } from './storage/encryption.ts';
import type { OpenItems } from './storage/item-limits.ts';
import type { Items } from './storage/items.ts';
import { grantClaim, markClaim, type TokenReader } from './tokens.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

export const lifetimes = {
  accessToken: HOUR_S,
  code: 60,
  interaction: HOUR_S,
  /** Lifetime of a browser session, from entering the password. */
  session: 12 * HOUR_S,
  /** Lifetime of an unused refresh token; each use issues a new one. */
  refreshToken: 30 * DAY_S,
} as const;

const now = (): number => Math.floor(Date.now() / 1_000);

/** Maximum size of a client's metadata document. */
export const MAX_DOCUMENT_BYTES = 16 * 1024;

/** Maximum length of an authorization URL, whose parameters are stored until the user has answered. */
export const MAX_URL_LENGTH = 8_192;
/** Maximum length of `state`, which is stored with the request. */
export const MAX_STATE_LENGTH = 2_048;

function refuseLongAddress(context: KoaContextWithOIDC): void {
  const language = chooseLanguage({ acceptLanguage: context.get('accept-language') });
  context.status = 400;
  context.set(pageHeaders());
  const detail = `invalid_request: the address has more than ${MAX_URL_LENGTH} characters`;
  context.body = errorPage(language, 'badRequest', detail);
}

function refuseLongState(_context: unknown, state: string | undefined): void {
  if (state !== undefined && state.length > MAX_STATE_LENGTH)
    throw new errors.InvalidRequest(`state has more than ${MAX_STATE_LENGTH} characters`);
}

/** Dependencies of a provider. */
export interface ProviderParts {
  readonly addresses: IssuerAddresses;
  readonly items: Items;
  readonly openItems: OpenItems;
  /** Returns the network of the current request. */
  readonly network: () => string;
  /** Returns the progress of the current request. */
  readonly progress: () => Progress;
  readonly keys: SystemKeys;
  readonly tokens: TokenReader;
  /** Returns the mark of the user's present password; `null` if the user cannot sign in. */
  readonly markOf: (userId: string) => Promise<string | null>;
  readonly fetch: Fetch;
  /** Whether the URL of a client's metadata document may be fetched. */
  readonly mayFetch: (address: string) => boolean;
  /** Reports unexpected faults. */
  readonly report: (error: unknown) => void;
}

/** Creates the authorization server of one system (docs/adr/0014-sign-in.md). It expects paths relative to its issuer. */
export function makeProvider(parts: ProviderParts): Provider {
  const { addresses, report } = parts;
  const provider = new Provider(addresses.issuer, configurationOf(parts));
  answerAsIssuer(provider, addresses);
  // Otherwise the underlying framework (Koa) would print it.
  (provider as EventEmitter).on('error', report);
  provider.on('server_error', (context, error) => {
    report(error);
    answerPassing(context as unknown as KoaContextWithOIDC, errorToReport(error, parts.progress(), true));
  });
  provider.use(async (context, next) => {
    const { path, method } = context;
    // HEAD is handled like GET.
    if (path === endpoints.authorization && method !== 'POST') {
      if (context.url.length > MAX_URL_LENGTH) {
        refuseLongAddress(context as unknown as KoaContextWithOIDC);
        return;
      }
      context.query = normalizeRequest(context.query);
    }
    // Clients of the other endpoints are programs, so they get JSON whatever they accept.
    if (method === 'POST') context.req.headers.accept = 'application/json';
    await next();
    if (path !== endpoints.revocation) return;
    try {
      await revokeAccessToken(context as unknown as KoaContextWithOIDC, parts);
    } catch (error) {
      if (!isPassing(error)) throw error;
      answerPassing(context as unknown as KoaContextWithOIDC, errorToReport(error, parts.progress(), true));
    }
  });
  return provider;
}

/**
 * Answers passing faults of the store, which the provider treats as internal errors. If the client accepts HTML, the provider renders its page.
 * Reference: faults.md#passing-faults.
 */
function answerPassing(context: KoaContextWithOIDC, error: unknown): void {
  const retryAfter = retryAfterOf(error);
  if (retryAfter === undefined) return;
  const { status, json } = renderError(error);
  context.status = status;
  context.set('retry-after', String(retryAfter));
  if (context.accepts('json', 'html') === 'html') return;
  context.type = 'application/json; charset=utf-8';
  context.body = json;
}

/** Fixes the issuer's URLs, so that the `Host` and forwarding headers of a request cannot change them. */
function answerAsIssuer(provider: Provider, { issuer, path }: IssuerAddresses): void {
  const { protocol, host, origin } = new URL(issuer);
  Object.defineProperties(provider.request, {
    protocol: { value: protocol.slice(0, -1) },
    host: { value: host },
    origin: { value: origin },
    href: { value: issuer },
  });
  // The prefix of the provider's own paths.
  (provider.context as { mountPath?: string }).mountPath = path;
}

/** Revokes the grant of an access token (RFC 7009). The provider does not revoke signed tokens; it authenticates the client first. */
async function revokeAccessToken(context: KoaContextWithOIDC, { tokens, items }: ProviderParts): Promise<void> {
  if ((context.body as { error?: unknown } | undefined)?.error !== 'unsupported_token_type') return;
  const { client, params } = context.oidc;
  const token = await tokens.read(String(params?.token));
  if (token && token.clientId === client?.clientId) await items.removeFamily(token.grant);
  context.status = 200;
  context.body = '';
}

function configurationOf({ addresses, items, openItems, network, keys, markOf, fetch, mayFetch }: ProviderParts): Configuration {
  const { issuer, path, resource, isHttps } = addresses;
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isHttps } as const;
  return {
    adapter: (kind) => new ItemAdapter(items, kind, { items: openItems, network }),
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientBasedCORS: () => true,
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: {
      keys: [...keys.cookies],
      names: { session: 'agent_session', interaction: 'agent_interaction', resume: 'agent_resume' },
      long: { ...cookie, path },
      // The provider sets its path to that of the page.
      short: cookie,
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    expiresWithSession: () => false,
    extraClientMetadata: {
      properties: ['software_id', 'software_version'],
      validator(_context, name, _value, metadata) {
        // Called for each extra property, before the provider's own validation; run once.
        if (name === 'software_id')
          normalizeClient(metadata as Record<string, unknown>, (reason) => {
            throw new errors.InvalidClientMetadata(reason);
          });
      },
    },
    extraTokenClaims({ oidc: { entities } }, token) {
      if (!('grantId' in token) || token.grantId === undefined) return undefined;
      const { acr = '' } = entities.RefreshToken ?? entities.AuthorizationCode ?? {};
      return { [grantClaim]: keyOf('Grant', token.grantId), [markClaim]: keyOf('Mark', acr) };
    },
    features: {
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: (_context, id) => mayFetch(id),
        cacheDuration: { min: 5 * 60, max: DAY_S },
      },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo(_context, requestedResource) {
          if (requestedResource !== resource) throw new errors.InvalidTarget();
          return {
            scope: agentPermissions.join(' '),
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: lifetimes.accessToken,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    extraParams: { state: refuseLongState },
    fetch: (address, options) => fetch(String(address), options),
    fetchResponseBodyLimits: { 'client_id metadata document': MAX_DOCUMENT_BYTES },
    async findAccount(_context, userId, source) {
      const mark = await markOf(userId);
      const account = { accountId: userId, claims: () => ({ sub: userId }) };
      if (source === undefined) return mark === null ? undefined : account;
      const { acr, grantId } = source as { readonly acr?: string; readonly grantId?: string };
      // Permanent, like the end of sessions: an unblocked user must sign in again.
      if (mark === null && grantId !== undefined) await items.removeFamily(keyOf('Grant', grantId));
      // Codes and refresh tokens are bound to the password with which they were obtained. Reference: sign-in.md#revocation.
      return mark !== null && acr === mark ? account : undefined;
    },
    interactions: {
      policy: interactionPrompts(markOf),
      url: (_context, { uid }) => `${issuer}/interaction/${uid}`,
    },
    issueRefreshToken: () => true,
    jwks: { keys: keys.signing },
    // Each consent is a separate grant, so that revoking one keeps the user's other connections.
    async loadExistingGrant({ oidc }) {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    pkce: { required: () => true },
    renderError(context, out) {
      const { error, error_description: description } = out;
      const isFault = error === 'server_error';
      const isGone = description !== undefined && /session|expired/.test(description) && context.oidc.route === 'resume';
      const language = chooseLanguage({
        locales: context.query.ui_locales,
        acceptLanguage: context.get('accept-language'),
      });
      context.set(pageHeaders());
      const detail = isFault || isGone ? undefined : `${error}: ${description ?? ''}`;
      context.body = errorPage(language, isFault ? 'fault' : isGone ? 'gone' : 'badRequest', detail);
    },
    responseTypes: ['code'],
    async rotateRefreshToken({ oidc }) {
      const { Grant } = oidc.entities;
      if (Grant?.jti !== undefined) await items.extend('Grant', Grant.jti, Date.now() + lifetimes.refreshToken * 1_000);
      return true;
    },
    routes: endpoints,
    ttl: {
      AccessToken: lifetimes.accessToken,
      AuthorizationCode: lifetimes.code,
      Grant: lifetimes.refreshToken,
      IdToken: lifetimes.accessToken,
      Interaction: lifetimes.interaction,
      RefreshToken: lifetimes.refreshToken,
      // Asked at each visit: the twelve hours count from entering the password.
      Session: (_context, { loginTs: from = now() }) => Math.max(1, from + lifetimes.session - now()),
    },
  };
}
