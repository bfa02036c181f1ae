/** Metadata (RFC 8414, 9728), registration (RFC 7591) and authorization requests (PKCE, RFC 8707). */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  authorizeUrl,
  Browser,
  type Client,
  everything,
  issuerOf,
  pkce,
  redirectUri,
  register,
  replyOf,
  resourceOf,
  tryRegister,
} from '../support/oauth.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { clockedService } from './clocked.ts';

for (const engine of anyEngine)
  describe(engine, () => {
    let service: Service;
    let client: Client;
    before(async () => {
      service = await clockedService();
      client = await register(service);
    });
    const get = async (path: string, headers = {}) => replyOf(await fetch(`${service.url}${path}`, { headers }));

    test('an issuer describes itself wherever clients look', async () => {
      const issuer = issuerOf(service);
      for (const path of [
        `/.well-known/oauth-authorization-server/oauth/${service.appId}`,
        `/.well-known/openid-configuration/oauth/${service.appId}`,
        `/oauth/${service.appId}/.well-known/openid-configuration`,
        `/oauth/${service.appId}/.well-known/oauth-authorization-server`,
      ]) {
        const { status, body, headers } = await get(path, { origin: 'https://inspector.test' });
        assert.equal(status, 200, path);
        assert.equal(headers.get('access-control-allow-origin'), 'https://inspector.test');
        assert.ok(headers.get('x-request-id'));
        assert.equal(body.issuer, issuer);
        assert.deepEqual(body.scopes_supported, everything);
        assert.deepEqual(body.code_challenge_methods_supported, ['S256']);
        assert.deepEqual(body.response_types_supported, ['code']);
        assert.deepEqual(body.grant_types_supported, ['authorization_code', 'refresh_token']);
        assert.deepEqual(body.token_endpoint_auth_methods_supported, ['none', 'client_secret_basic', 'client_secret_post']);
        assert.equal(body.client_id_metadata_document_supported, true);
        for (const [name, value] of Object.entries(body))
          if (/_endpoint$|_uri$/.test(name)) assert.ok(String(value).startsWith(`${issuer}/`), name);
        assert.equal(
          Object.keys(body).some((name) => /device|pushed|dpop|introspection|userinfo|end_session/.test(name)),
          false,
        );
      }
    });

    test('the resource names its issuer', async () => {
      const { status, body } = await get(`/.well-known/oauth-protected-resource/mcp/${service.appId}`);
      assert.equal(status, 200);
      const { resource_name: name, ...rest } = body;
      assert.equal(typeof name, 'string');
      assert.deepEqual(rest, {
        resource: resourceOf(service),
        authorization_servers: [issuerOf(service)],
        scopes_supported: everything,
        bearer_methods_supported: ['header'],
      });
    });

    test('systems that do not exist have no metadata', async () => {
      for (const path of [
        '/.well-known/oauth-authorization-server/oauth/nobody',
        `/.well-known/oauth-authorization-server/mcp/${service.appId}`,
        `/.well-known/oauth-protected-resource/oauth/${service.appId}`,
        '/.well-known/oauth-protected-resource/mcp/nobody',
        '/.well-known/oauth-protected-resource/mcp',
        '/oauth/nobody/.well-known/openid-configuration',
        '/oauth/nobody/jwks',
        `/oauth/${service.appId}/nothing`,
      ])
        assert.equal((await get(path)).status, 404, path);
      const { status, text, headers } = await get('/oauth/nobody/authorize');
      assert.equal(status, 404);
      assert.match(headers.get('content-type') ?? '', /^text\/html/);
      assert.match(text, /There is no such page/);
    });

    test('what a request says of its host moves no address', async () => {
      const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' };
      const url = authorizeUrl(service, client, { code_challenge: pkce().challenge, code_challenge_method: 'S256' });
      const answer = await fetch(url, { headers, redirect: 'manual' });
      assert.ok(
        answer.headers.get('location')?.startsWith(`${issuerOf(service)}/interaction/`),
        `${answer.headers.get('location')}`,
      );
    });

    test('registration answers what was made of the request', async () => {
      const { status, body } = await tryRegister(service, {
        client_name: 'Agent',
        redirect_uris: ['cursor://back/x', 'https://agent.test/back'],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        token_endpoint_auth_method: 'none',
        scope: 'mcp:view offline_access something',
        jwks_uri: 'https://127.0.0.1/',
      });
      assert.equal(status, 201);
      assert.equal(typeof body.client_id_issued_at, 'number');
      assert.deepEqual(
        [body.client_name, body.application_type, body.grant_types, body.token_endpoint_auth_method, body.client_secret],
        ['Agent', 'native', ['authorization_code', 'refresh_token'], 'none', undefined],
      );
      assert.deepEqual([body.jwks_uri, body.registration_access_token], [undefined, undefined]);
    });

    for (const [what, metadata, error] of [
      ['no redirect', {}, 'invalid_redirect_uri'],
      ['a redirect with a fragment', { redirect_uris: ['https://a.test/#x'] }, 'invalid_redirect_uri'],
      ['a redirect that runs', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
      ['a redirect over http to another machine', { redirect_uris: ['http://a.test/'] }, 'invalid_redirect_uri'],
      ['a redirect with a user', { redirect_uris: ['https://user:word@a.test/'] }, 'invalid_redirect_uri'],
      ['a redirect that is no address', { redirect_uris: ['nothing'] }, 'invalid_redirect_uri'],
      ['too many redirects', { redirect_uris: Array(21).fill('https://a.test') }, 'invalid_redirect_uri'],
      [
        'a method that is not offered',
        { redirect_uris: ['https://a.test/'], token_endpoint_auth_method: 'private_key_jwt' },
        'invalid_client_metadata',
      ],
    ] as const)
      test(`registration refuses ${what}`, async () => {
        const { status, body } = await tryRegister(service, metadata);
        assert.equal(status, 400);
        assert.equal(body.error, error);
        assert.equal(typeof body.error_description, 'string');
      });

    test('registration reads JSON of a bounded size', async () => {
      const post = async (body: string, type = 'application/json') =>
        replyOf(await fetch(`${issuerOf(service)}/register`, { method: 'POST', headers: { 'content-type': type }, body }));
      for (const reply of [
        await post('{'),
        await post('[]'),
        await post('a=b', 'text/plain'),
        await post(`"${'x'.repeat(60_000)}"`),
      ])
        assert.deepEqual([reply.status, reply.body?.error], [400, 'invalid_request'], reply.text);
    });

    const asked = (parameters: Record<string, string | undefined>) =>
      new Browser(service).get(
        authorizeUrl(service, client, { code_challenge: pkce().challenge, code_challenge_method: 'S256', ...parameters }),
      );

    for (const [what, parameters, error] of [
      ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
      ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
      ['a challenge without a method', { code_challenge_method: undefined }, 'invalid_request'],
      ['another resource', { resource: 'https://other.test/mcp/testapp' }, 'invalid_target'],
      ['tokens at once', { response_type: 'token' }, 'unsupported_response_type'],
      ['an answer by form', { response_mode: 'form_post' }, 'unsupported_response_mode'],
      ['nobody to be asked', { prompt: 'none' }, 'login_required'],
    ] as const)
      test(`a request with ${what} goes back with ${error}`, async () => {
        const { left, text } = await asked(parameters);
        assert.ok(left, text);
        assert.equal(left.origin + left.pathname, redirectUri);
        // Requests for an immediate token are answered in the fragment (OAuth 2.0, 4.2.2.1).
        const answer = left.hash === '' ? left.searchParams : new URLSearchParams(left.hash.slice(1));
        assert.deepEqual([answer.get('error'), answer.get('state')], [error, 'state-1']);
      });

    for (const [what, parameters] of [
      ['another redirect', { redirect_uri: 'https://evil.test/back' }],
      ['a redirect that goes on', { redirect_uri: `${redirectUri}/more` }],
      ['an unknown client', { client_id: 'nobody' }],
      ['no client', { client_id: undefined }],
      ['a client at an address inside', { client_id: 'https://127.0.0.1/client.json' }],
      ['a client at a metadata service', { client_id: 'https://169.254.169.254/client.json' }],
    ] as const)
      test(`a request with ${what} goes nowhere`, async () => {
        const { left, status, text, headers } = await asked({ ...parameters, state: '<script>' });
        assert.equal(left, undefined);
        assert.ok(status === 400 || status === 401, `${status}`);
        assert.match(headers.get('content-type') ?? '', /^text\/html/);
        assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
        assert.match(text, /This request cannot be answered/);
        assert.doesNotMatch(text, /<script|node_modules|at .*\.js/);
      });

    test('parameters of OpenID Connect are passed over', async () => {
      const { text } = await asked({
        nonce: 'x',
        max_age: '1',
        claims: '{}',
        acr_values: 'x',
        id_token_hint: 'x',
        scope: 'openid',
      });
      assert.match(text, /name="password"/);
    });

    test('a request that a client sends twice a parameter of goes back', async () => {
      const url = authorizeUrl(service, client, { code_challenge: pkce().challenge, code_challenge_method: 'S256' });
      const { text, left } = await new Browser(service).get(`${url}&scope=mcp:view&scope=mcp:create`);
      assert.equal(left?.searchParams.get('error'), 'invalid_request', text);
    });
  });
