/** The page behind the link of a reset mail, in a browser. Reference: users.md#password-reset. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anyEngine, type Service } from '../support/service.ts';
import { isAlive, otherPassword } from '../support/users.ts';
import { fillIn, submit, useMailing } from './reset.ts';

for (const engine of anyEngine)
  describe(engine, () => {
    let service: Service;
    const resets = useMailing((running) => {
      service = running.service;
    }, engine);
    const page = (token: string) => new URL(`/password-reset/${service.appId}?token=${token}`, service.url);

    const assertSafe = (headers: Headers, text: string) => {
      assert.match(headers.get('content-type') ?? '', /^text\/html; ?charset=utf-8$/i);
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
        assert.ok(policy.includes(part), policy);
      assert.ok(!policy.includes('unsafe'), policy);
      assert.ok(headers.get('x-request-id'));
      assert.doesNotMatch(text, /<(script|img|link|iframe|object|base)\b|\ssrc=|url\(|@import|\son\w+=|\sstyle=/i);
      assert.doesNotMatch(text, /(href|action)="?(https?:)?\/\//i, 'nothing from elsewhere');
    };

    test('a page that works without scripts, in Hebrew and English', async () => {
      const user = await resets.user();
      const answer = await fetch(await resets.link(user.email));
      const text = await answer.text();
      assert.equal(answer.status, 200);
      assertSafe(answer.headers, text);
      assert.match(text, /<html[^>]*lang="he"[^>]*dir="rtl"|<html[^>]*dir="rtl"[^>]*lang="he"/i);
      assert.match(text, /<label\b/i);
      assert.match(text, /<input\b[^>]*type="password"/i);
      assert.match(text, /[א-ת]{3}/);
    });

    test('a GET uses nothing up, however often', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      for (let i = 0; i < 3; i++) assert.equal((await fetch(link)).status, 200);
      for (const method of ['HEAD', 'PUT', 'DELETE']) await fetch(link, { method });
      assert.ok(await isAlive(service, user.token));
      assert.equal((await fillIn(link, otherPassword)).status, 200);
    });

    test('a GET reveals nothing of whether a token is good', async () => {
      const user = await resets.user();
      const token = (await resets.link(user.email)).searchParams.get('token') as string;
      const madeUp = token.replace(/./g, 'x');
      const seen = async (one: string) => {
        const answer = await fetch(page(one));
        return [answer.status, (await answer.text()).replaceAll(one, 'TOKEN')];
      };
      assert.deepEqual(await seen(token), await seen(madeUp));
    });

    test('what is in the address is text on the page', async () => {
      const hostile = `"><script>alert(1)</script><b title='&amp;`;
      const answer = await fetch(page(encodeURIComponent(hostile)));
      const text = await answer.text();
      assertSafe(answer.headers, text);
      assert.ok(!text.includes('<b title'), text);
      const posted = await submit(page(''), { token: hostile, password: 'short' });
      assertSafe(posted.headers, posted.text);
      assert.equal(posted.status, 400);
    });

    test('all its answers are safe: done, used up, weak', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      for (const [password, status] of [
        ['short', 400],
        [otherPassword, 200],
        [otherPassword, 400],
      ] as const) {
        const answer = await fillIn(link, password);
        assert.equal(answer.status, status);
        assertSafe(answer.headers, answer.text);
        assert.ok(!answer.text.includes(otherPassword));
      }
    });

    test('an unknown application id is a 404 page; a link is good in its own system only', async () => {
      const user = await resets.user();
      const token = (await resets.link(user.email)).searchParams.get('token') as string;
      for (const appId of ['nobody', 'a%00b', '%2e%2e%2f', 'x'.repeat(3000)]) {
        const at = new URL(`/password-reset/${appId}?token=${token}`, service.url);
        for (const answer of [await fetch(at), await submit(at, { token, password: otherPassword })]) {
          assert.ok([400, 404, 414].includes(answer.status), `${appId.slice(0, 9)}: ${answer.status}`);
        }
      }
      const at = new URL(`/password-reset/nobody?token=${token}`, service.url);
      const answer = await fetch(at);
      assert.equal(answer.status, 404);
      assertSafe(answer.headers, await answer.text());
      assert.ok(await isAlive(service, user.token));
    });

    test('a body that is no form changes nothing', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      const token = link.searchParams.get('token') as string;
      for (const [type, body] of [
        ['application/json', JSON.stringify({ token, password: [otherPassword] })],
        ['application/x-www-form-urlencoded', 'token=&password='],
        ['application/x-www-form-urlencoded', '%E0%A4%A=%'],
        ['application/x-www-form-urlencoded', ''],
        ['application/x-www-form-urlencoded', `token=x&token=${'y'.repeat(100_000)}&password=Abcdefg1`],
      ] as const) {
        const answer = await fetch(new URL(link.pathname, link), { method: 'POST', headers: { 'Content-Type': type }, body });
        assert.ok(answer.status >= 400 && answer.status < 500, `${body.slice(0, 30)}: ${answer.status}`);
      }
      assert.ok(await isAlive(service, user.token));
    });
  });
