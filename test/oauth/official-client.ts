/** The official client with its own sign-in, and a user with a browser. */
import assert from 'node:assert/strict';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { mcpAddress } from '../support/mcp.ts';
import { Browser, credentials, redirectUri, type Shown, ticks, type Where } from '../support/oauth.ts';
import type { Json } from '../support/records.ts';
import type { User } from '../support/users.ts';

/** Protocol version of the client: the handshake of earlier revisions, or the present revision. */
export const eras = ['legacy', { pin: '2026-07-28' }] as const;
export type Era = (typeof eras)[number];

type Information = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>;
type HeldTokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>;
type Discovered = NonNullable<Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>>;

/** Sign-in state of a program in memory, and the page that it opens for the user. */
export class Kept implements OAuthClientProvider {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { client_name: 'Official client', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
  information: Information | undefined;
  held: HeldTokens | undefined;
  discovered: Discovered | undefined;
  verifier = '';
  #sentTo: URL | undefined;
  state = () => 'state-of-the-program';
  clientInformation = () => this.information;
  saveClientInformation(information: Information) {
    this.information = information;
  }
  tokens = () => this.held;
  saveTokens(tokens: HeldTokens) {
    this.held = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.#sentTo = url;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  codeVerifier = () => this.verifier;
  saveDiscoveryState(state: Discovered) {
    this.discovered = state;
  }
  discoveryState = () => this.discovered;
  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery') {
    if (what === 'all' || what === 'tokens') this.held = undefined;
    if (what === 'all' || what === 'client') this.information = undefined;
  }
  /** Returns the page that the program opened last, if any, and forgets it. */
  takePage(): URL | undefined {
    const page = this.#sentTo;
    this.#sentTo = undefined;
    return page;
  }
}

export interface Program {
  readonly kept: Kept;
  /** Returns the requests since the last call: method, path, status. */
  sent(): string[];
  connect(): Promise<{ client: Client; transport: StreamableHTTPClientTransport }>;
}

/** Creates a program without sign-in state. */
export function program(where: Where, mode: Era): Program {
  const kept = new Kept();
  let requests: string[] = [];
  return {
    kept,
    sent() {
      const before = requests;
      requests = [];
      return before;
    },
    async connect() {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const transport = new StreamableHTTPClientTransport(new URL(mcpAddress(where)), {
        authProvider: kept,
        fetch: async (address, init) => {
          const response = await fetch(address, init);
          requests.push(`${init?.method ?? 'GET'} ${new URL(address).pathname} ${response.status}`);
          return response;
        },
      });
      await client.connect(transport);
      return { client, transport };
    },
  };
}

/** Signs the user in on the page that a program has opened; returns the consent page. */
export async function signInAt(where: Where, user: User, page: URL): Promise<{ browser: Browser; shown: Shown }> {
  const browser = new Browser(where);
  const shown = await browser.get(page.href);
  return { browser, shown: await browser.submit(shown, credentials(user.username)) };
}

/** Signs the user in and allows all offered permissions. Returns the parameters of the redirect to the program. */
export async function allow(where: Where, user: User, page: URL): Promise<URLSearchParams> {
  const { browser, shown } = await signInAt(where, user, page);
  const offered = Array.from(shown.text.matchAll(/value="(mcp:[^"]*)" checked/g), ([, permission]) => permission ?? '');
  assert.ok(offered.length > 0, shown.text);
  const { left, text } = await browser.submit(shown, ticks(offered));
  return left?.searchParams ?? assert.fail(text);
}

/** Calls a tool; returns its JSON, or the text of its refusal. */
export async function ask(client: Client, name: string, args: Record<string, unknown>): Promise<Json> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content;
  const text = first?.type === 'text' ? first.text : assert.fail(JSON.stringify(content));
  return isError ? text : JSON.parse(text);
}
