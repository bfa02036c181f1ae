/** SPEC "Authentication: Agent-tool layer" 3: what the official client makes of the answers to calls without a token, or with an old one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { mcpAddress } from '../support/mcp.ts';
import {
  agentUser,
  askEndpoint,
  Browser,
  credentials,
  type Client as RegisteredClient,
  redirectUri,
  resourceOf,
  ticks,
} from '../support/oauth.ts';
import { type Service, startService } from '../support/service.ts';
import { clockAhead, type User } from '../support/users.ts';

let service: Service;
let user: User;
before(async () => {
  // Each SIGUSR2 is more than the hour of a token.
  service = await startService({ env: clockAhead(0, 3_700_000) });
  user = await agentUser(service);
});
after(() => service?.stop());

/** Keeps in memory what a client keeps of its sign-in, and where it sends the user. */
class Kept implements OAuthClientProvider {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { client_name: 'Official client', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
  information: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
  held: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  discovered: ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>;
  verifier = '';
  sentTo: URL | undefined;
  clientInformation() {
    return this.information;
  }
  saveClientInformation(information: NonNullable<Kept['information']>) {
    this.information = information;
  }
  tokens() {
    return this.held;
  }
  saveTokens(tokens: NonNullable<Kept['held']>) {
    this.held = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url;
  }
  pageToShow(): URL {
    return this.sentTo ?? assert.fail('the user was sent nowhere');
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  saveDiscoveryState(state: NonNullable<Awaited<Kept['discovered']>>) {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered;
  }
  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery') {
    if (what === 'all' || what === 'tokens') this.held = undefined;
  }
  codeVerifier() {
    return this.verifier;
  }
}

/** The user at his browser: signs in and allows what is asked. Answers the code. */
async function allow(url: URL): Promise<URLSearchParams> {
  const browser = new Browser(service);
  let page = await browser.get(url.href);
  if (page.text.includes('name="password"')) page = await browser.submit(page, credentials(user.username));
  const asked = Array.from(page.text.matchAll(/value="(mcp:[^"]*)" checked/g), ([, permission]) => permission ?? '');
  const { left, text } = await browser.submit(page, ticks(asked));
  assert.ok(left, text);
  return left.searchParams;
}

for (const mode of ['legacy', { pin: '2026-07-28' }] as const)
  test(`the official client signs in when a tool asks for it: ${JSON.stringify(mode)}`, async () => {
    const kept = new Kept();
    const transport = () => new StreamableHTTPClientTransport(new URL(mcpAddress(service)), { authProvider: kept });
    const connect = async () => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const way = transport();
      await client.connect(way);
      return { client, way };
    };
    const asks = { name: 'Get-Data', arguments: { table: 'Accounts' } };
    const { client, way } = await connect();
    assert.ok((await client.listTools()).tools.length > 1);
    assert.equal(kept.sentTo, undefined);
    await assert.rejects(client.callTool(asks), UnauthorizedError);
    const page = kept.pageToShow();
    assert.equal(page.searchParams.get('scope'), 'mcp:view');
    assert.equal(page.searchParams.get('resource'), resourceOf(service));
    await way.finishAuth(await allow(page));
    assert.deepEqual((await client.callTool(asks)).content, [{ type: 'text', text: '{"results":[]}' }]);
    await client.close();

    // A token whose hour is over is exchanged for a new one without the user.
    const first = kept.held?.access_token;
    service.process.kill('SIGUSR2');
    const later = await connect();
    kept.sentTo = undefined;
    assert.deepEqual((await later.client.callTool(asks)).content, [{ type: 'text', text: '{"results":[]}' }]);
    assert.notEqual(kept.held?.access_token, first);
    assert.equal(kept.sentTo, undefined);

    // What was revoked takes the user again.
    await askEndpoint(service, 'revoke', kept.information as RegisteredClient, { token: kept.held?.access_token ?? '' });
    await assert.rejects(later.client.callTool(asks), UnauthorizedError);
    kept.pageToShow();
    await later.client.close();
  });
