/** The protocol's own client library signs in, and stays signed in, with only the address of the agent tools. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { agentUser, Browser, claimsOf, credentials, everything, resourceOf, ticks, useToken } from '../support/oauth.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import type { User } from '../support/users.ts';

type Kept<K extends keyof OAuthClientProvider> = Awaited<ReturnType<Extract<OAuthClientProvider[K], (...args: any) => any>>>;

/** Sign-in state of a program. */
class Program implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:4711/callback';
  readonly clientMetadata = {
    client_name: 'Library client',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  client: Kept<'clientInformation'>;
  kept: Kept<'tokens'>;
  verifier = '';
  sentTo: URL | undefined;

  state = () => 'state-of-the-library';
  clientInformation = () => this.client;
  saveClientInformation(client: any) {
    this.client = client;
  }
  tokens = () => this.kept;
  saveTokens(tokens: any) {
    this.kept = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  codeVerifier = () => this.verifier;
  found: Kept<'discoveryState'>;
  discoveryState = () => this.found;
  saveDiscoveryState(found: any) {
    this.found = found;
  }
  invalidateCredentials() {
    this.kept = undefined;
  }
}

for (const engine of anyEngine)
  describe(engine, () => {
    let service: Service;
    let user: User;
    before(async () => {
      service = await sharedService(engine);
      user = await agentUser(service);
    });

    test('from the address of the tools to a token, and to the next one', async () => {
      const program = new Program();
      const serverUrl = resourceOf(service);
      assert.equal(await auth(program, { serverUrl }), 'REDIRECT');
      assert.ok(program.sentTo);
      assert.equal(program.sentTo.searchParams.get('resource'), serverUrl);
      const browser = new Browser(service);
      const page = await browser.get(program.sentTo.href);
      assert.match(page.text, /Library client/);
      const consent = await browser.submit(page, credentials(user.username));
      const { left } = await browser.submit(
        { ...consent, text: consent.text.slice(consent.text.lastIndexOf('<form')) },
        ticks(['mcp:view']),
      );
      assert.ok(left);
      assert.equal(left.searchParams.get('state'), 'state-of-the-library');
      const authorizationCode = left.searchParams.get('code') ?? '';
      const iss = left.searchParams.get('iss') ?? '';
      assert.equal(await auth(program, { serverUrl, authorizationCode, iss }), 'AUTHORIZED');
      const first = program.kept?.access_token ?? '';
      assert.deepEqual([claimsOf(first).scope, claimsOf(first).sub], ['mcp:view', user.id]);
      assert.equal(await useToken(service, first), 'valid');
      assert.equal(await auth(program, { serverUrl }), 'AUTHORIZED');
      const second = program.kept?.access_token ?? '';
      assert.notEqual(second, first);
      assert.equal(await useToken(service, second), 'valid');
    });

    test('a scope that is asked for is what is asked of the user', async () => {
      const program = new Program();
      await auth(program, { serverUrl: resourceOf(service), scope: 'mcp:view mcp:update' });
      const browser = new Browser(service);
      const consent = await browser.submit(await browser.get(program.sentTo?.href ?? ''), credentials(user.username));
      const listed = Array.from(consent.text.matchAll(/name="permission" value="([^"]*)"/g), ([, name]) => name);
      assert.deepEqual(
        listed,
        everything.filter((name) => name === 'mcp:view' || name === 'mcp:update'),
      );
    });
  });
