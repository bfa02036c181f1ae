/** Pages of sign-in and consent: text, language, security headers, and effects of user actions. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  agentUser,
  authorize,
  authorizeUrl,
  Browser,
  type Client,
  credentials,
  issuerOf,
  pkce,
  redeem,
  redirectUri,
  register,
  type Shown,
  ticks,
} from '../support/oauth.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import {
  changeUser,
  failedLogins,
  failLogins,
  login,
  newName,
  otherPassword,
  password,
  sessionRows,
  type User,
  wrong,
} from '../support/users.ts';

for (const engine of anyEngine)
  describe(engine, () => {
    let service: Service;
    let user: User;
    let client: Client;
    before(async () => {
      service = await sharedService(engine);
      user = await agentUser(service);
      client = await register(service, { client_name: 'Weather <b>bot</b>' });
    });

    const begin = (browser: Browser, parameters: Record<string, string | undefined> = {}, who = client) =>
      browser.get(authorizeUrl(service, who, { code_challenge: pkce().challenge, code_challenge_method: 'S256', ...parameters }));
    const faultOf = ({ text }: Shown) => /role="alert"[^>]*>([^<]*)</.exec(text)?.[1];
    const isConsent = ({ text }: Shown) => text.includes('value="allow"');

    test('the sign-in page says whose system it is, who asks, and where it leads', async () => {
      const { status, text } = await begin(new Browser(service));
      assert.equal(status, 200);
      assert.match(text, /<html lang="en" dir="ltr">/);
      assert.match(text, /Weather &lt;b&gt;bot&lt;\/b&gt;/);
      assert.match(text, /client\.test/);
      assert.doesNotMatch(text, /<script|<b>bot|https?:\/\/[^"]*\.(js|css)/);
      for (const id of ['username', 'password'])
        assert.match(text, new RegExp(`<label for="${id}">[^<]+</label><input id="${id}"`));
    });

    test('pages are guarded, and leave nothing behind', async () => {
      const browser = new Browser(service);
      const page = await begin(browser);
      const consent = await browser.submit(page, credentials(user.username));
      for (const { headers } of [page, consent]) {
        const policy = headers.get('content-security-policy') ?? '';
        assert.match(policy, /default-src 'none'/);
        assert.match(policy, /frame-ancestors 'none'/);
        assert.match(policy, /form-action 'self' https:(;|$)/);
        assert.doesNotMatch(policy, /unsafe|script-src/);
        assert.deepEqual(
          ['referrer-policy', 'cache-control', 'x-content-type-options', 'x-frame-options'].map((name) => headers.get(name)),
          ['no-referrer', 'no-store', 'nosniff', 'DENY'],
        );
        assert.ok(headers.get('x-request-id'));
      }
    });

    test('a program on the device is let through, and named as such', async () => {
      const local = await register(service, { redirect_uris: ['http://127.0.0.1:4711/back'] });
      const page = await begin(new Browser(service), {}, local);
      assert.match(
        page.headers.get('content-security-policy') ?? '',
        /form-action 'self' https: http:\/\/127\.0\.0\.1:4711(;|$)/,
      );
      assert.match(page.text, /a program on this device \(<bdi dir="ltr"><strong>127\.0\.0\.1:4711</);
      const app = await register(service, { redirect_uris: ['cursor://some.place/back'] });
      const other = await begin(new Browser(service), {}, app);
      assert.match(other.headers.get('content-security-policy') ?? '', /form-action 'self' https: cursor:(;|$)/);
      assert.match(other.text, /opens <bdi dir="ltr">cursor:</);
    });

    test('cookies are good below the issuer alone, for no script and no other site', async () => {
      const { browser } = await authorize(service, user);
      assert.ok(browser.set.length >= 3);
      for (const line of browser.set) {
        assert.match(line, new RegExp(`; path=/oauth/${service.appId}(/|;|$)`), line);
        assert.match(line, /; httponly/i);
        assert.match(line, /; samesite=lax/i);
        assert.doesNotMatch(line, /; secure|; domain/i);
      }
    });

    test('Hebrew or English, by what is asked, and kept from page to page', async () => {
      const hebrew = new Browser(service, { 'accept-language': 'he-IL,he;q=0.9,en;q=0.8' });
      const page = await begin(hebrew);
      assert.match(page.text, /<html lang="he" dir="rtl">/);
      assert.match(page.text, /<a href="\?lang=en" lang="en"/);
      const switched = await hebrew.get(new URL('?lang=en', page.url).href);
      assert.match(switched.text, /<html lang="en" dir="ltr">/);
      assert.match((await hebrew.submit(switched, credentials(user.username))).text, /<html lang="en" dir="ltr">/);
      const asked = await begin(new Browser(service), { ui_locales: 'fr he' });
      assert.match(asked.text, /<html lang="he" dir="rtl">/);
    });

    test('what is wrong is said, and what was typed but the password stays', async () => {
      const browser = new Browser(service);
      const page = await begin(browser);
      const refused = await browser.submit(page, credentials('"><script>x', wrong));
      assert.equal(refused.status, 400);
      assert.equal(faultOf(refused), 'The user name or the password is wrong.');
      assert.match(refused.text, /value="&quot;&gt;&lt;script&gt;x"/);
      assert.equal(refused.text.includes(wrong), false);
      const missing = await browser.submit(refused, credentials('', ''));
      assert.deepEqual([missing.status, faultOf(missing)], [400, 'Fill in both the user name and the password.']);
      const right = await browser.submit(missing, credentials(user.username));
      assert.ok(isConsent(right));
    });

    test('text that no record can hold is answered as a wrong password', async () => {
      const browser = new Browser(service);
      let page = await begin(browser);
      for (const [name, secret] of [
        ['a\0b', wrong],
        ['\ud800', wrong],
        [`${user.username}\0`, password],
        [newName(), 'x\0y'],
        [user.username, `${password}\0`],
      ] as const) {
        page = await browser.submit(page, credentials(name, secret));
        assert.deepEqual([page.status, faultOf(page)], [400, 'The user name or the password is wrong.'], JSON.stringify(name));
      }
      assert.ok(isConsent(await browser.submit(page, credentials(user.username))));
    });

    test('an unknown name is answered as a wrong password', async () => {
      const browser = new Browser(service);
      const refused = await browser.submit(await begin(browser), credentials(newName(), wrong));
      assert.equal(faultOf(refused), 'The user name or the password is wrong.');
    });

    test('failures here and at the login are counted together', async () => {
      const who = await agentUser(service);
      await failLogins(service, who.username, 5);
      const browser = new Browser(service);
      let page = await begin(browser);
      for (let n = 0; n < 3; n++) page = await browser.submit(page, credentials(who.username, wrong));
      assert.equal(await failedLogins(service, who), 8);
      page = await browser.submit(page, credentials(who.username));
      assert.match(faultOf(page) ?? '', /locked .* 30 minutes/);
      assert.match((await login(service, { username: who.username, password })).text, /locked/);
    });

    test('signing in here opens no session of the CRM, and counts as a success', async () => {
      const who = await agentUser(service);
      const before = await sessionRows(service, who);
      await failLogins(service, who.username, 2);
      const browser = new Browser(service);
      assert.ok(isConsent(await browser.submit(await begin(browser), credentials(who.username))));
      assert.equal(await failedLogins(service, who), 0);
      assert.equal((await sessionRows(service, who)).length, before.length);
    });

    test('an inactive user is reported so, if the password is right', async () => {
      const who = await agentUser(service);
      await changeUser(service, who, { active: false });
      const browser = new Browser(service);
      const page = await browser.submit(await begin(browser), credentials(who.username));
      assert.equal(faultOf(page), 'This user is not active. Ask your administrator.');
      assert.match(faultOf(await browser.submit(page, credentials(who.username, wrong))) ?? '', /wrong/);
    });

    for (const [what, end] of [
      ['blocked', (who: User) => changeUser(service, who, { active: false })],
      ['given a new password', (who: User) => changeUser(service, who, { password: otherPassword })],
      ['removed', (who: User) => service.call('DELETE', `/platform/users/${who.id}`)],
    ] as const)
      test(`a browser of a user who was ${what} is signed in no more`, async () => {
        const who = await agentUser(service);
        const { browser } = await authorize(service, who);
        await end(who);
        const page = await begin(browser);
        assert.match(page.text, /name="password"/);
        const other = await browser.submit(page, credentials(user.username));
        assert.ok(isConsent(other), other.text);
        assert.match(other.text, new RegExp(user.username));
      });

    test('a user who is blocked while the page is open has to sign in', async () => {
      const who = await agentUser(service);
      const browser = new Browser(service);
      const page = await browser.submit(await begin(browser), credentials(who.username));
      await changeUser(service, who, { active: false });
      const after = await browser.submit({ ...page, text: page.text.slice(page.text.lastIndexOf('<form')) }, ticks(['mcp:view']));
      assert.match(after.text, /name="password"/);
    });

    test('another user may take over at the consent, and at a request that asks for the sign-in', async () => {
      const other = await agentUser(service, ['mcp:view']);
      const { browser } = await authorize(service, user);
      const page = await begin(browser);
      assert.match(page.text, new RegExp(user.username));
      const switched = await browser.submit(page, [['decision', 'switch']]);
      assert.match(switched.text, /name="password"/);
      const consent = await browser.submit(switched, credentials(other.username));
      assert.match(consent.text, new RegExp(other.username));
      for (const prompt of ['login', 'select_account', 'login consent']) {
        const asked = await begin(browser, { prompt });
        assert.match(asked.text, /name="password"/, prompt);
        const back = await browser.submit(asked, credentials(prompt === 'login' ? user.username : other.username));
        assert.ok(isConsent(back), back.text);
        const end = await browser.submit(back, ticks(['mcp:view']));
        assert.ok(end.left?.searchParams.get('code'), end.text);
      }
    });

    test('a cancelled sign-in and a cancelled consent go back as denied', async () => {
      const browser = new Browser(service);
      const first = await browser.submit(await begin(browser), [['decision', 'cancel']]);
      const consent = await browser.submit(await begin(browser), credentials(user.username));
      const second = await browser.submit(consent, [['decision', 'cancel']]);
      for (const { left } of [first, second]) {
        assert.ok(left);
        assert.ok(left.href.startsWith(`${redirectUri}?`), left.href);
        assert.deepEqual([left.searchParams.get('error'), left.searchParams.get('state')], ['access_denied', 'state-1']);
      }
    });

    test('nothing ticked is no consent', async () => {
      const browser = new Browser(service);
      const consent = await browser.submit(await begin(browser), credentials(user.username));
      for (const permissions of [[], ['mcp:everything'], ['']]) {
        const again = await browser.submit(consent, ticks(permissions));
        assert.deepEqual([again.status, faultOf(again)], [400, 'Tick at least one permission, or cancel.']);
      }
      assert.ok((await browser.submit(consent, ticks(['mcp:create']))).left?.searchParams.get('code'));
    });

    test('a user with none of the permissions is reported so, and can go back', async () => {
      const who = await agentUser(service, []);
      const browser = new Browser(service);
      const page = await browser.submit(await begin(browser), credentials(who.username));
      assert.match(faultOf(page) ?? '', /^You have none of the permissions/);
      assert.equal(isConsent(page), false);
      const forced = await browser.submit(page, ticks(['mcp:view']));
      assert.equal(forced.left, undefined);
      assert.equal((await browser.submit(page, [['decision', 'cancel']])).left?.searchParams.get('error'), 'access_denied');
    });

    test('if the system lets no agents in, no user has a permission to give', async () => {
      const name = 'McpSignIn';
      const made = await service.call('POST', '/platform/classes/Config', { body: { Name: name, Value: { [name]: false } } });
      const browser = new Browser(service);
      const page = await browser.submit(await begin(browser), credentials(user.username));
      await service.call('DELETE', `/platform/classes/Config/${made.body.objectId}`);
      assert.match(faultOf(page) ?? '', /^You have none of the permissions/);
    });

    test('a page is of one browser, and of one request', async () => {
      const browser = new Browser(service);
      const page = await begin(browser);
      const stranger = await new Browser(service).get(page.url);
      assert.equal(stranger.status, 400);
      assert.match(stranger.text, /This page has ended/);
      const consent = await browser.submit(page, credentials(user.username));
      assert.ok(isConsent(consent));
      // The consent was already answered.
      assert.match((await browser.get(page.url)).text, /This page has ended/);
      const gone = await browser.get(`${issuerOf(service)}/interaction/nothing`);
      assert.deepEqual([gone.status, /This page has ended/.test(gone.text)], [400, true]);
    });

    test('requests of one browser stand beside each other', async () => {
      const browser = new Browser(service);
      const [first, second] = [await begin(browser, { state: 'one' }), await begin(browser, { state: 'two' })];
      for (const [page, state] of [
        [second, 'two'],
        [first, 'one'],
      ] as const) {
        const consent = isConsent(page) ? page : await browser.submit(page, credentials(user.username));
        const end = await browser.submit(consent, ticks(['mcp:view']));
        assert.deepEqual([end.left?.searchParams.get('state'), end.left?.searchParams.has('code')], [state, true], end.text);
      }
    });

    test('a hint fills in the name', async () => {
      const page = await begin(new Browser(service), { login_hint: 'dana@example.com' });
      assert.match(page.text, /id="username"[^>]*value="dana@example.com"/);
    });

    test('nothing that is secret is logged', async () => {
      const authorized = await authorize(service, user);
      const tokens = await redeem(service, authorized);
      const browser = new Browser(service);
      await browser.submit(await begin(browser), credentials(user.username, wrong));
      const output = service.output();
      for (const secret of [
        password,
        wrong,
        authorized.answer.get('code') ?? '',
        tokens.body.access_token,
        tokens.body.refresh_token,
      ])
        assert.equal(output.includes(secret), false);
      assert.doesNotMatch(output, /oidc-provider|"level":50/);
    });
  });
