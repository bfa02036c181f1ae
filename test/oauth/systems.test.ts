/** Each system is an issuer of its own; keys and tokens outlive a restart and hold in every process. Reference: sign-in.md#issuer-and-metadata. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeData, type OwnData } from '../support/data.ts';
import {
  agentUser,
  authorizeUrl,
  issuerOf,
  pkce,
  refresh,
  register,
  replyOf,
  resourceOf,
  signInFor,
  useToken,
  type Where,
} from '../support/oauth.ts';
import { anyEngine, type Service, sampledEngines, startService } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import type { User } from '../support/users.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';

const parameters = () => ({ code_challenge: pkce().challenge, code_challenge_method: 'S256' });

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service;
    let system: System;
    let other: Where;
    let user: User;
    before(async () => {
      service = await sharedService(engine);
      system = await addSystem(service, '--name', 'Second');
      other = { url: service.url, appId: system.appId };
      user = await agentUser(service);
    });

    test('a token of one system is unknown to another', async () => {
      const { tokens } = await signInFor(service, user);
      assert.equal(await useToken(service, tokens.access_token), 'valid');
      assert.equal(await useToken(other, tokens.access_token), 'unknown');
      const kids = await Promise.all(
        [service, other].map(async (where) => (await replyOf(await fetch(`${issuerOf(where)}/jwks`))).body.keys[0].kid),
      );
      assert.notEqual(kids[0], kids[1]);
    });

    test('a client, a session and a refresh token are of one system', async () => {
      const { client, browser, tokens } = await signInFor(service, user);
      const refused = await refresh(other, client, tokens.refresh_token);
      assert.deepEqual([refused.status, refused.body.error], [401, 'invalid_client']);
      const foreign = await browser.get(authorizeUrl(other, client, parameters()));
      assert.match(foreign.text, /This request cannot be answered/);
      const own = await register(other);
      const page = await browser.get(authorizeUrl(other, own, parameters()));
      assert.match(page.text, /name="password"/);
      const target = await browser.get(authorizeUrl(other, own, { ...parameters(), resource: resourceOf(service) }));
      assert.equal(target.left?.searchParams.get('error'), 'invalid_target');
    });

    test('cookies of one system never reach another', async () => {
      const { browser } = await signInFor(service, user);
      assert.ok(browser.cookies.length > 0);
      for (const { path } of browser.cookies)
        assert.ok(path === `/oauth/${service.appId}` || path.startsWith(`/oauth/${service.appId}/`));
    });

    describe('processes of one service', () => {
      // One address for all processes, as behind a load balancer.
      const base = 'http://127.0.0.1:1';
      let data: OwnData;
      let running: Service[] = [];
      const start = () => startService({ engine, ...data, env: { BASE_URL: base } });
      const at = (process: number): Where => ({ ...(running[process] ?? assert.fail('it does not run')), base });
      before(async () => {
        data = await makeData(engine);
        running = await Promise.all(Array.from({ length: engine === 'postgres' ? 2 : 1 }, start));
      });
      after(async () => {
        for (const process of running) await process.stop();
        await data.remove();
      });

      if (engine === 'postgres')
        test('of processes that are first to need the keys of a system one makes them', async () => {
          const sets = await Promise.all(
            running
              .flatMap((process) => [process, process])
              .map(async (process) => (await replyOf(await fetch(`${issuerOf(process)}/jwks`))).body.keys),
          );
          for (const keys of sets) assert.deepEqual(keys, sets[0]);
        });

      test('keys, clients and tokens outlive a restart, and are good in every process', async () => {
        const [first] = running as [Service];
        const who = await agentUser(first);
        const { client, tokens } = await signInFor(at(0), who);
        await first.stop();
        running[0] = await start();
        assert.equal(await useToken(at(0), tokens.access_token), 'valid');
        const next = await refresh(at(0), client, tokens.refresh_token);
        assert.equal(next.status, 200, next.text);
        assert.equal((await refresh(at(0), client, tokens.refresh_token)).body.error, 'invalid_grant');
        assert.equal(await useToken(at(0), next.body.access_token), 'ended');
        if (engine === 'postgres') {
          const here = await signInFor(at(1), who, { client });
          assert.equal(await useToken(at(0), here.tokens.access_token), 'valid');
          const replies = await Promise.all([at(0), at(1)].map((where) => refresh(where, client, here.tokens.refresh_token)));
          assert.ok(replies.filter(({ status }) => status === 200).length <= 1);
          assert.equal(await useToken(at(0), here.tokens.access_token), 'ended');
        }
      });
    });

    test('the table of stored items exists for no caller', async () => {
      for (const path of ['/platform/classes/_OAuthItem', '/platform/schemas/_OAuthItem']) {
        for (const as of ['master', 'apiKey'] as const) {
          const answer = await service.call('GET', path, { as });
          assert.notEqual(answer.status, 200, path);
        }
      }
      const { body } = await service.call('GET', '/platform/schemas');
      assert.equal(
        body.results.some(({ className }: { className: string }) => className === '_OAuthItem'),
        false,
      );
    });

    test('a system of its own, with users of its own', async () => {
      const here = await agentUser({ call: (method, path, options) => callSystem(service, system, method, path, options) });
      const { tokens } = await signInFor(other, here);
      assert.equal(await useToken(other, tokens.access_token), 'valid');
    });
  });

for (const engine of anyEngine)
  test('behind https cookies are for https alone, below the path of the address', async () => {
    const base = 'https://crm.test/data';
    const own = await startService({ engine, env: { BASE_URL: base } });
    const where: Where = { ...own, base };
    const client = await register(where);
    const answer = await fetch(authorizeUrl(where, client, parameters()), { redirect: 'manual' });
    const cookies = answer.headers.getSetCookie();
    assert.ok(answer.headers.get('location')?.startsWith(`${base}/oauth/${own.appId}/interaction/`));
    for (const cookie of cookies) {
      assert.match(cookie, /; secure/i);
      assert.match(cookie, new RegExp(`; path=/data/oauth/${own.appId}/`));
    }
    assert.ok(cookies.length > 0);
    for (const path of [`oauth-authorization-server/data/oauth/${own.appId}`, `oauth-authorization-server/oauth/${own.appId}`]) {
      const { body } = await replyOf(await fetch(`${own.url}/.well-known/${path}`));
      assert.equal(body.issuer, `${base}/oauth/${own.appId}`);
    }
    const resource = await replyOf(await fetch(`${own.url}/.well-known/oauth-protected-resource/data/mcp/${own.appId}`));
    assert.equal(resource.body.resource, `${base}/mcp/${own.appId}`);
    await own.stop();
  });
