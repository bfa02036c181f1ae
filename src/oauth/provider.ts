import type { EventEmitter } from 'node:events';
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { agentPermissions } from '../access/index.ts';
import { isPassing } from '../errors/fail.ts';
import { renderError, retryAfterOf } from '../errors/render.ts';
import { chooseLanguage } from '../kernel/language.ts';
import { endOf, type Progress } from '../records/index.ts';
import { endpoints, type IssuerAddresses } from './addresses.ts';
import { normalizeClient } from './clients/metadata.ts';
import type { Fetch } from './clients/ssrf-safe-fetch.ts';
import type { SystemKeys } from './keys.ts';
import { deadEndPage, pageHeaders } from './pages/page.ts';
import { interactionPrompts } from './policy.ts';
import { normalizeRequest } from './request.ts';
import { ItemAdapter } from './storage/adapter.ts';
import type { OpenItems } from './storage/bounds.ts';
import { keyOf } from './storage/encryption.ts';
import type { Items } from './storage/items.ts';
import { grantClaim, markClaim, type TokenReader } from './tokens.ts';

/** Seconds. */
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

const lifetimes = {
  accessToken: HOUR_S,
  code: 60,
  interaction: HOUR_S,
  /** Of a browser, from the password on. */
  session: 12 * HOUR_S,
  /** Of a refresh token that is not used; each use makes another one. */
  refreshToken: 30 * DAY_S,
} as const;

const now = (): number => Math.floor(Date.now() / 1_000);

/** Bytes of a client's metadata document. */
const DOCUMENT_BYTES = 16 * 1024;

/** Characters of the address that begins a sign-in: what it says is kept until its user has come. */
const MAX_ADDRESS_LENGTH = 8_192;
/** Characters of a `state`, which is kept with the request. */
const MAX_STATE_LENGTH = 2_048;

function refuseLongAddress(context: KoaContextWithOIDC): void {
  const language = chooseLanguage({ acceptLanguage: context.get('accept-language') });
  context.status = 400;
  context.set(pageHeaders());
  const detail = `invalid_request: the address has more than ${MAX_ADDRESS_LENGTH} characters`;
  context.body = deadEndPage(language, 'badRequest', detail);
}

function refuseLongState(_context: unknown, state: string | undefined): void {
  if (state !== undefined && state.length > MAX_STATE_LENGTH)
    throw new errors.InvalidRequest(`state has more than ${MAX_STATE_LENGTH} characters`);
}

/** What a provider is made of. */
export interface ProviderParts {
  readonly addresses: IssuerAddresses;
  readonly items: Items;
  readonly openItems: OpenItems;
  /** That the request under way comes from. */
  readonly network: () => string;
  /** How far it has come. */
  readonly progress: () => Progress;
  readonly keys: SystemKeys;
  readonly tokens: TokenReader;
  /** The mark that a user would sign in with now; `null` where he cannot. */
  readonly markOf: (userId: string) => Promise<string | null>;
  readonly fetch: Fetch;
  /** Whether the address of a client's metadata document may be fetched. */
  readonly mayFetch: (address: string) => boolean;
  /** Hears of faults of ours. */
  readonly report: (error: unknown) => void;
}

/** Makes the authorization server of one system (docs/adr/0014-sign-in.md). It is to be asked for paths below its issuer's. */
export function makeProvider(parts: ProviderParts): Provider {
  const { addresses, report } = parts;
  const provider = new Provider(addresses.issuer, configurationOf(parts));
  answerAsIssuer(provider, addresses);
  // Else the framework below would print it.
  (provider as EventEmitter).on('error', report);
  provider.on('server_error', (context, error) => {
    report(error);
    answerPassing(context as unknown as KoaContextWithOIDC, endOf(error, parts.progress(), true));
  });
  provider.use(async (context, next) => {
    const { path, method } = context;
    // A HEAD is answered as a GET.
    if (path === endpoints.authorization && method !== 'POST') {
      if (context.url.length > MAX_ADDRESS_LENGTH) {
        refuseLongAddress(context as unknown as KoaContextWithOIDC);
        return;
      }
      context.query = normalizeRequest(context.query);
    }
    // Clients of the other endpoints are programs, whatever they say they accept.
    if (method === 'POST') context.req.headers.accept = 'application/json';
    await next();
    if (path !== endpoints.revocation) return;
    try {
      await revokeAccessToken(context as unknown as KoaContextWithOIDC, parts);
    } catch (error) {
      if (!isPassing(error)) throw error;
      answerPassing(context as unknown as KoaContextWithOIDC, endOf(error, parts.progress(), true));
    }
  });
  return provider;
}

/** The provider takes what passes for a fault of its own (CONTRACT "Faults of the store"). Where it shows a page, that follows. */
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

/** What a request's headers say of its host does not matter: an issuer's addresses are its own. */
function answerAsIssuer(provider: Provider, { issuer, path }: IssuerAddresses): void {
  const { protocol, host, origin } = new URL(issuer);
  Object.defineProperties(provider.request, {
    protocol: { value: protocol.slice(0, -1) },
    host: { value: host },
    origin: { value: origin },
    href: { value: issuer },
  });
  // Where the provider finds what its own paths are below.
  (provider.context as { mountPath?: string }).mountPath = path;
}

/** The provider revokes no signed tokens: once it knows the client, their grant is revoked here (RFC 7009). */
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
      // Its path is that of the page.
      short: cookie,
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    expiresWithSession: () => false,
    extraClientMetadata: {
      properties: ['software_id', 'software_version'],
      validator(_context, name, _value, metadata) {
        // It is called for each of these, before what the provider looks at itself.
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
        getResourceServerInfo(_context, asked) {
          if (asked !== resource) throw new errors.InvalidTarget();
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
    fetchResponseBodyLimits: { 'client_id metadata document': DOCUMENT_BYTES },
    async findAccount(_context, userId, source) {
      const mark = await markOf(userId);
      const account = { accountId: userId, claims: () => ({ sub: userId }) };
      if (source === undefined) return mark === null ? undefined : account;
      const { acr, grantId } = source as { readonly acr?: string; readonly grantId?: string };
      // For good, as sessions do: who is unblocked later signs in anew.
      if (mark === null && grantId !== undefined) await items.removeFamily(keyOf('Grant', grantId));
      // A code and a refresh token are good for as long as the password that they were got with (CONTRACT "Records": password change).
      return mark !== null && acr === mark ? account : undefined;
    },
    interactions: {
      policy: interactionPrompts(markOf),
      url: (_context, { uid }) => `${issuer}/interaction/${uid}`,
    },
    issueRefreshToken: () => true,
    jwks: { keys: keys.signing },
    // Each consent is a grant of its own, so that revoking one leaves the user's other connections alone.
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
      context.body = deadEndPage(language, isFault ? 'fault' : isGone ? 'gone' : 'badRequest', detail);
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
      // The provider asks for it at each visit: the twelve hours are those of the password.
      Session: (_context, { loginTs: from = now() }) => Math.max(1, from + lifetimes.session - now()),
    },
  };
}
