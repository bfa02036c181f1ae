/** Signs users in for an agent, as a browser and a client do: pages, cookies, redirects, tokens. Reference: sign-in.md#authorization. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Service } from './service.ts';
import { password, setRole, signUp, type User } from './users.ts';

/** A system of a service. */
export interface Where extends Pick<Service, 'url' | 'appId'> {
  /** The base address that the service announces, if it differs from the one it listens on. */
  base?: string;
}

export const everything = ['mcp:view', 'mcp:create', 'mcp:update', 'mcp:edit-page-and-schema'] as const;
export type Permission = (typeof everything)[number];

/** Nothing listens there: the browser stops at this address. */
export const redirectUri = 'https://client.test/back';

/** Returns the address of the issuer. */
export const issuerOf = ({ url, appId }: Where) => `${url}/oauth/${appId}`;
export const resourceOf = ({ url, base = url, appId }: Where) => `${base}/mcp/${appId}`;

/** Creates a user of the role Admin with these permissions for agents, with the master key. */
export async function agentUser(service: Pick<Service, 'call'>, permissions: readonly Permission[] = everything): Promise<User> {
  const user = await signUp(service, { mcpPermissions: permissions });
  await setRole(service, user.id, 'Admin');
  return user;
}

export interface Client {
  client_id: string;
  client_secret?: string;
  [key: string]: any;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, headers: response.headers, text, body };
}

/** Registers a client (RFC 7591) and returns the reply, whether it succeeds or not. */
export const tryRegister = async (where: Where, metadata: object): Promise<Reply> =>
  replyOf(
    await fetch(`${issuerOf(where)}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    }),
  );

/** Registers a client without a secret, which must succeed. */
export async function register(where: Where, metadata: object = {}): Promise<Client> {
  const about = { client_name: 'Test agent', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none', ...metadata };
  const reply = await tryRegister(where, about);
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
}

/** Returns a new verifier and challenge (RFC 7636). */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Returns the address of an authorization request; undefined parameters are left out. */
export function authorizeUrl(where: Where, client: Client, parameters: Record<string, string | undefined> = {}): string {
  const url = new URL(`${issuerOf(where)}/authorize`);
  const all = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: client.redirect_uris?.[0] ?? redirectUri,
    state: 'state-1',
    resource: resourceOf(where),
    ...parameters,
  };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/** A page that the browser shows, or the external address that it was redirected to. */
export interface Shown extends Reply {
  url: string;
  /** The external address that a redirect led to. */
  left?: URL;
}

interface Cookie {
  name: string;
  value: string;
  path: string;
}

/** A browser without scripts: it keeps cookies by path, and follows redirects until one leads out of the service. */
export class Browser {
  readonly cookies: Cookie[] = [];
  /** Every Set-Cookie header so far. */
  readonly set: string[] = [];
  readonly #origin: string;
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor({ url, base = url }: Where, headers: Record<string, string> = { 'accept-language': 'en' }) {
    this.#origin = url;
    this.#base = new URL(base).origin;
    this.#headers = headers;
  }

  async get(url: string): Promise<Shown> {
    return this.#go('GET', url);
  }

  /** Submits the form of a page. */
  async submit(page: Shown, fields: readonly (readonly [string, string])[]): Promise<Shown> {
    const action = /<form method="post" action="([^"]*)"/.exec(page.text)?.[1];
    assert.ok(action, page.text);
    return this.#go(
      'POST',
      new URL(action, page.url).href,
      new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])),
    );
  }

  async #go(method: string, url: string, form?: URLSearchParams): Promise<Shown> {
    let address = new URL(url);
    let how = { method, body: form ?? null };
    for (let hops = 0; hops < 10; hops++) {
      // As a reverse proxy would do.
      if (address.origin === this.#base) address = new URL(address.href.slice(this.#base.length), this.#origin);
      if (address.origin !== this.#origin)
        return { status: 0, headers: new Headers(), text: '', body: undefined, url, left: address };
      const cookie = this.#cookiesFor(address.pathname);
      const response = await fetch(address, {
        ...how,
        redirect: 'manual',
        headers: { accept: 'text/html', ...this.#headers, ...(cookie && { cookie }) },
      });
      for (const line of response.headers.getSetCookie()) this.#keep(line, address.pathname);
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null)
        return { ...(await replyOf(response)), url: address.href };
      await response.body?.cancel();
      address = new URL(location, address);
      how = { method: 'GET', body: null };
    }
    return assert.fail('it goes round in circles');
  }

  #cookiesFor(path: string): string {
    return this.cookies
      .filter((cookie) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #keep(line: string, from: string): void {
    this.set.push(line);
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const attribute = (key: string) => attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const path = attribute('path') ?? from;
    const at = this.cookies.findIndex((one) => one.name === name && one.path === path);
    if (at >= 0) this.cookies.splice(at, 1);
    const end = attribute('expires');
    if (value !== '' && (end === undefined || Date.parse(end) > Date.now())) this.cookies.push({ name, value, path });
  }
}

/** Returns the fields of the sign-in page. */
export const credentials = (username: string, secret = password) =>
  [
    ['username', username],
    ['password', secret],
    ['decision', 'sign-in'],
  ] as const;

/** Returns the fields of the consent page. */
export const ticks = (permissions: readonly string[]) =>
  [...permissions.map((permission) => ['permission', permission] as const), ['decision', 'allow'] as const] as const;

export interface Flow {
  client?: Client;
  browser?: Browser;
  /** The password, if it is not the default one. */
  secret?: string;
  /** The permissions that the user ticks; default: all that are offered. */
  granted?: readonly Permission[];
  parameters?: Record<string, string | undefined>;
}

/** Takes a user through the pages up to the redirect to the client. Returns the parameters of the redirect. */
export async function authorize(where: Where, user: User, flow: Flow = {}) {
  const client = flow.client ?? (await register(where));
  const browser = flow.browser ?? new Browser(where);
  const { verifier, challenge } = pkce();
  const parameters = { code_challenge: challenge, code_challenge_method: 'S256', ...flow.parameters };
  let shown = await browser.get(authorizeUrl(where, client, parameters));
  if (shown.text.includes('name="password"')) shown = await browser.submit(shown, credentials(user.username, flow.secret));
  assert.match(shown.text, /value="allow"/, shown.text || String(shown.left));
  const ticked =
    flow.granted ?? Array.from(shown.text.matchAll(/value="(mcp:[^"]*)" checked/g), ([, value]) => value as Permission);
  const end = await browser.submit(shown, ticks(ticked));
  assert.ok(end.left, end.text);
  return { client, browser, verifier, answer: end.left.searchParams, left: end.left, consent: shown };
}

/** Sends a request to the token endpoint. */
export async function askToken(where: Where, client: Client, fields: Record<string, string>): Promise<Reply> {
  return askEndpoint(where, 'token', client, fields);
}

/** Sends a client's request to an endpoint, with the client's secret if it has one. */
export async function askEndpoint(
  where: Where,
  endpoint: string,
  client: Client,
  fields: Record<string, string>,
): Promise<Reply> {
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = client;
  const body = new URLSearchParams(fields);
  const headers: Record<string, string> = {};
  if (method === 'client_secret_basic')
    headers.authorization = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret ?? '')}`).toString('base64')}`;
  else body.set('client_id', id);
  if (method === 'client_secret_post') body.set('client_secret', secret ?? '');
  return replyOf(await fetch(`${issuerOf(where)}/${endpoint}`, { method: 'POST', headers, body }));
}

/** Exchanges the result of `authorize` for tokens and returns the reply, whether it succeeds or not. */
export const redeem = (where: Where, { client, verifier, answer }: Awaited<ReturnType<typeof authorize>>): Promise<Reply> =>
  askToken(where, client, {
    grant_type: 'authorization_code',
    code: answer.get('code') ?? '',
    redirect_uri: client.redirect_uris?.[0] ?? redirectUri,
    code_verifier: verifier,
  });

export interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
  expires_in: number;
  token_type: string;
}

/** Signs a user in for a client, which must succeed. */
export async function signInFor(where: Where, user: User, flow: Flow = {}) {
  const authorized = await authorize(where, user, flow);
  const reply = await redeem(where, authorized);
  assert.equal(reply.status, 200, reply.text);
  return { ...authorized, tokens: reply.body as Tokens };
}

export const refresh = (where: Where, client: Client, token: string, fields: Record<string, string> = {}): Promise<Reply> =>
  askToken(where, client, { grant_type: 'refresh_token', refresh_token: token, ...fields });

/** Returns the claims of an access token without checking its signature. */
export const claimsOf = (token: string): Record<string, any> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** Returns how a system's agent tools treat a token: 200 with a result, 200 with a refusal, or 401. */
export async function useToken(where: Where, token: string): Promise<'valid' | 'ended' | 'unknown'> {
  const response = await fetch(`${where.url}/mcp/${where.appId}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'Get-Data', arguments: { table: '_User', limit: 1 } },
    }),
  });
  const text = await response.text();
  if (response.status === 401) return 'ended';
  assert.equal(response.status, 200, text);
  return text.includes('Permission denied for action') ? 'unknown' : 'valid';
}
