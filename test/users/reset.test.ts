/** Password reset. Reference: users.md#password-reset. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertRefused } from '../support/records.ts';
import { type Answer, anyEngine, type Service } from '../support/service.ts';
import type { Smtp } from '../support/smtp.ts';
import { storedIn } from '../support/stored.ts';
import {
  badLogin,
  changeUser,
  failedLogins,
  failLogins,
  isAlive,
  locked,
  login,
  newName,
  newSession,
  otherPassword,
  password,
  sessionRows,
  signUp,
} from '../support/users.ts';
import { eventually } from './mail.ts';
import { fillIn, submit, useMailing } from './reset.ts';

for (const engine of anyEngine)
  describe(engine, () => {
    let sink: Smtp;
    let service: Service;
    const resets = useMailing((running) => {
      ({ sink, service } = running);
    }, engine);
    const enters = async (username: string, secret: string) =>
      (await login(service, { username, password: secret })).status === 200;

    test('Reset request: {message}, identical for unknown addresses, byte for byte', async () => {
      const [user, off] = [await resets.user(), await resets.user({ active: false })];
      const shown = ({ status, text, headers }: Answer) => {
        const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
        return { status, text, kept };
      };
      const known = await resets.request(user.email);
      assert.equal(known.status, 200, known.text);
      assert.deepEqual(Object.keys(known.body), ['message']);
      assert.equal(typeof known.body.message, 'string');
      for (const email of [
        `${newName()}@example.com`,
        off.email,
        'no address',
        user.username,
        'a'.repeat(60_000),
        '%',
        "' OR 1=1",
      ])
        assert.deepEqual(shown(await resets.request(email)), shown(known), email.slice(0, 50));
      for (const as of ['master', 'apiKey'] as const)
        assert.deepEqual(shown(await resets.request(user.email, { as })), shown(known));
      // A user who has forgotten the password may still send an expired token.
      assert.deepEqual(shown(await resets.request(user.email, { session: `r:${'0'.repeat(32)}` })), shown(known));
    });

    for (const [what, body] of [
      ['no address', {}],
      ['an empty one', { email: '' }],
      ['null', { email: null }],
      ['a number', { email: 5 }],
      ['an operator', { email: { $ne: null } }],
      ['an Array', { email: ['a@example.com'] }],
      ['no body', undefined],
    ] as const)
      test(`${what} is 204`, async () => {
        assertRefused(await resets.request('', { body }), { code: 204 });
      });

    test('unknown addresses and users who are not active get no mail; the known one gets one', async () => {
      const [user, off] = [await resets.user(), await resets.user({ active: false })];
      const unknown = `${newName()}@example.com`;
      for (const email of [unknown, off.email]) await resets.request(email);
      await resets.link(user.email);
      await resets.link(user.email);
      const to = sink.received.flatMap((mail) => mail.to);
      assert.ok(!to.includes(unknown) && !to.includes(off.email));
      assert.equal(to.filter((address) => address === user.email).length, 2);
    });

    test('the mail: from MAIL_FROM to the user, Hebrew and English, plain and HTML, nothing from elsewhere', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      assert.equal(link.origin + link.pathname, `${service.url}/password-reset/${service.appId}`);
      assert.ok((link.searchParams.get('token')?.length ?? 0) >= 32);
      const mail = sink.received.find(({ to }) => to.includes(user.email));
      assert.ok(mail);
      assert.match(mail.raw, /^From: .*crm@example\.com/im);
      assert.match(mail.raw, /^Subject: \S/im);
      for (const text of [mail.text, mail.html]) {
        assert.match(text, /[א-ת]/);
        assert.match(text, /[a-z]{3}/i);
        for (const [address] of text.matchAll(/https?:[^\s"<>]+/g)) assert.ok(address.startsWith(service.url), address);
        assert.doesNotMatch(text, /<(img|script|link|iframe|object)\b|url\(/i);
      }
    });

    test('the address is the same whatever its case and the spaces around it; the mail goes to the one of the user', async () => {
      const user = await resets.user();
      await resets.request(`  ${user.email.toUpperCase()} `);
      const mail = await eventually(() => sink.received.find(({ to }) => to.includes(user.email)));
      assert.deepEqual(mail.to, [user.email]);
    });

    test('the form sets the password, ends all sessions and unlocks', async () => {
      const user = await resets.user();
      const second = await newSession(service, user);
      await failLogins(service, user.username, 8);
      assertRefused(await login(service, { username: user.username, password }), locked);
      const link = await resets.link(user.email);
      assert.ok(await isAlive(service, user.token), 'a request alone changes nothing');
      const done = await fillIn(link, otherPassword);
      assert.equal(done.status, 200, done.text);
      assert.deepEqual([await isAlive(service, user.token), await isAlive(service, second)], [false, false]);
      assert.deepEqual(await sessionRows(service, user), []);
      assert.equal(await failedLogins(service, user), 0);
      assertRefused(await login(service, { username: user.username, password }), badLogin);
      assert.ok(await enters(user.username, otherPassword));
    });

    test('the link is good once', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      assert.equal((await fillIn(link, otherPassword)).status, 200);
      assert.equal((await fillIn(link, 'Third3Pass')).status, 400);
      assert.ok(await enters(user.username, otherPassword));
    });

    test('used several times at once, exactly one works', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      const passwords = [1, 2, 3, 4].map((i) => `Parallel${i}`);
      const answers = await Promise.all(passwords.map((one) => fillIn(link, one)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400]);
      for (const [i, one] of passwords.entries()) assert.equal(await enters(user.username, one), answers[i]?.status === 200);
    });

    test('only the newest link is good', async () => {
      const user = await resets.user();
      const [older, newer] = [await resets.link(user.email), await resets.link(user.email)];
      assert.notEqual(older.href, newer.href);
      assert.equal((await fillIn(older, otherPassword)).status, 400);
      assert.ok(await enters(user.username, password));
      assert.equal((await fillIn(newer, otherPassword)).status, 200);
    });

    for (const weak of ['short', 'abcdefgh1', '', `A1${'b'.repeat(999)}`])
      test(`a weak password (${weak.slice(0, 12)}) is refused with the policy text, and the link stays good`, async () => {
        const user = await resets.user();
        const link = await resets.link(user.email);
        const answer = await fillIn(link, weak);
        assert.equal(answer.status, 400);
        assert.match(answer.text, /Password does not meet the Password Policy requirements\./);
        assert.match(answer.text, /<form\b/i, 'the form is there again');
        assert.ok(await isAlive(service, user.token));
        assert.equal((await fillIn(link, otherPassword)).status, 200);
      });

    test('a link of one user changes no other; made-up tokens change nobody', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      const token = link.searchParams.get('token') as string;
      const action = new URL(link.pathname, link);
      for (const made of [
        '',
        'x',
        token.slice(0, -1),
        `${token}x`,
        token.toUpperCase(),
        '%00',
        'null',
        '[object Object]',
        "' OR ''='",
      ])
        assert.equal((await submit(action, { token: made, password: otherPassword })).status, 400, made);
      assert.equal((await submit(action, { password: otherPassword })).status, 400);
      assert.ok(await enters(user.username, password));
      const other = await signUp(service);
      const sent = { token, password: otherPassword, username: other.username, objectId: other.id };
      assert.equal((await submit(action, sent)).status, 200);
      assert.deepEqual([await enters(user.username, otherPassword), await enters(other.username, password)], [true, true]);
    });

    test('a link that was asked for before the password was written with a key, or the user was made inactive', async () => {
      const [user, off] = [await resets.user(), await resets.user()];
      const [link, ofOff] = [await resets.link(user.email), await resets.link(off.email)];
      await changeUser(service, user, { password: otherPassword });
      await changeUser(service, off, { active: false });
      await fillIn(ofOff, otherPassword);
      assert.equal((await login(service, { username: off.username, password: otherPassword })).status, 404, 'stays inactive');
      assert.equal((await fillIn(link, 'Third3Pass')).status, 400, 'the newer password stands');
      assert.ok(await enters(user.username, otherPassword));
    });

    test('the token of the link is not in what is stored, the log or `_RequestLog`', async () => {
      const user = await resets.user();
      const link = await resets.link(user.email);
      const token = link.searchParams.get('token') as string;
      const secret = 'Reset9Password';
      const headers = { Referer: link.href };
      await service.call('POST', '/platform/logout', { as: 'anonymous', headers });
      assert.equal((await fillIn(link, secret)).status, 200);
      await wait(400);
      for (const { path, bytes } of await storedIn(service))
        for (const value of [token, secret]) assert.ok(!bytes.includes(value), path);
      for (const value of [token, secret]) assert.ok(!service.output().includes(value), 'the log');
    });
  });
