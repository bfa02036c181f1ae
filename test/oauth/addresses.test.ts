/** Addresses that resemble an endpoint of sign-in do not bypass its limits, rules and headers. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { authorizeUrl, type Client, issuerOf, pkce, register, replyOf } from '../support/oauth.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

for (const engine of anyEngine)
  describe(engine, () => {
    let service: Service;
    let client: Client;
    before(async () => {
      service = await sharedService(engine);
      client = await register(service);
    });

    const asked = (path: string, parameters = {}) => {
      const { search } = new URL(
        authorizeUrl(service, client, { code_challenge: pkce().challenge, code_challenge_method: 'S256', ...parameters }),
      );
      return fetch(`${issuerOf(service)}${path}${search}`, { redirect: 'manual', headers: { accept: 'text/html' } });
    };

    for (const path of [
      ...[
        '/authorize/',
        '/authorize//',
        '//authorize',
        '/authorize/%2F',
        '/authorize/a%2Fb',
        '/authorize/a/',
        '/authorize/a%20b',
      ],
      ...['/AUTHORIZE', '/authorize%2F', '/authorize/%3Fx', '/authorize/..%2Fjwks', '/jwks/', '/JWKS'],
    ])
      test(`GET ${path} is no endpoint`, async () => {
        const { status, headers } = await replyOf(await asked(path, { response_mode: 'form_post' }));
        assert.deepEqual([status, headers.getSetCookie(), headers.get('location')], [404, [], null]);
      });

    for (const path of ['/token/', '/register/', '/revoke/', '//token', '/TOKEN', '/register/x', '/session/end/confirm'])
      test(`POST ${path} is no endpoint`, async () => {
        const headers = { 'content-type': 'application/json' };
        const { status } = await fetch(issuerOf(service) + path, { method: 'POST', headers, body: '{}' });
        assert.equal(status, 404);
      });

    test('an endpoint whose letters are encoded is the same endpoint', async () => {
      for (const path of ['/%61uthorize', '/authorize']) {
        const answer = await asked(path, { response_mode: 'form_post' });
        assert.equal(answer.status, 303, path);
        const back = new URL(answer.headers.get('location') ?? '');
        assert.equal(back.searchParams.get('error'), 'unsupported_response_mode', path);
      }
      const { body } = await replyOf(await fetch(`${issuerOf(service)}/%6Awks`));
      assert.equal(body.keys.length, 1);
    });

    test('a page of an address that names its system in other letters is still a page', async () => {
      const { status, headers } = await replyOf(await fetch(`${service.url}/oauth/no%62ody/authorize`));
      assert.equal(status, 404);
      assert.match(headers.get('content-type') ?? '', /^text\/html/);
    });

    test('a request that has ended is answered with the headers of pages', async () => {
      const answer = await replyOf(
        await fetch(`${issuerOf(service)}/authorize/nobody-0_9`, { headers: { 'accept-language': 'en' } }),
      );
      assert.equal(answer.status, 400);
      assert.match(answer.text, /This page has ended/);
      assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    });
  });
