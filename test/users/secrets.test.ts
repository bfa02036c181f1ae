/** Passwords and tokens appear in no answer but that to their owner, in no row, no file and no log line. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { unique } from '../support/records.ts';
import { type Answer, anyEngine, type Service } from '../support/service.ts';
import { storedIn } from '../support/stored.ts';
import { changeUser, isAlive, login, newName, newRole, newSession, signUp, updateUser, userPointer } from '../support/users.ts';
import { useMailing } from './reset.ts';

const secret = () => `Aa1${unique('Secret')}`;

for (const engine of anyEngine)
  describe(engine, () => {
    let service: Service;
    /** Secrets that must not appear anywhere. */
    const hidden = new Set<string>();
    useMailing((running) => {
      service = running.service;
    }, engine);
    const conceal = (value: string): string => {
      hidden.add(value);
      return value;
    };
    const assertHidden = (where: string, text: string | Buffer) => {
      assert.ok(hidden.size > 0);
      for (const value of hidden)
        for (const form of [value, encodeURIComponent(value), value.replace(/^r:/, '')])
          assert.ok(!text.includes(form), `${where} holds ${form}`);
    };
    const newUser = async (fields: object = {}) => {
      const password = conceal(secret());
      const user = await signUp(service, { password, ...fields });
      return { ...user, password, token: conceal(user.token) };
    };

    test('`_User`/password: never returned, not even with the master key, in no answer that is not the owner of the token', async () => {
      const user = await newUser({ email: `${newName()}@example.com` });
      const { id, username, password } = user;
      conceal(await newSession(service, user, { password }));
      const role = await newRole(service, [user]);
      const table = unique('T');
      const made = await service.call('POST', `/platform/classes/${table}`, { body: { Owner: userPointer(user) } });
      const reads: [string, Record<string, unknown>?][] = [
        ['/platform/users'],
        [`/platform/users/${id}`],
        ['/platform/classes/_User', { keys: 'password,username,objectId' }],
        ['/platform/classes/_User', { where: { username }, include: '*' }],
        [`/platform/classes/_User/${id}`, { include: 'password' }],
        ['/platform/sessions', { include: 'user' }],
        ['/platform/classes/_Session', { keys: 'sessionToken,user', includeAll: 'true' }],
        [`/platform/classes/${table}/${made.body.objectId}`, { include: 'Owner' }],
        [`/platform/classes/${table}`, { include: '*' }],
        [
          `/platform/classes/_User`,
          { where: { $relatedTo: { object: { ...userPointer(role), className: '_Role' }, key: 'users' } } },
        ],
        ['/platform/classes-aggregate/_User', { pipeline: [{ $match: { username } }] }],
        ['/platform/classes-aggregate/_Session', { pipeline: [{ $sort: { createdAt: 1 } }] }],
        ['/platform/schemas', { withDictionary: true }],
        ['/platform/classes/_RequestLog', { limit: 1000 }],
      ];
      for (const as of ['master', 'apiKey'] as const)
        for (const [at, query] of reads) {
          const answer = await service.call('GET', at, { as, ...(query && { query }) });
          assert.ok(answer.status < 500, `${at}: ${answer.text}`);
          assertHidden(at, answer.text);
          assert.doesNotMatch(answer.text, /argon2|\$2[aby]\$/, at);
        }
    });

    test('the own answers of the user hold their token, and no password', async () => {
      const password = secret();
      const made = await service.call('POST', '/platform/users', { body: { username: newName(), password } });
      const user = { id: made.body.objectId, token: made.body.sessionToken };
      const username = (await service.call('GET', `/platform/users/${user.id}`)).body.username;
      const answers: Answer[] = [
        made,
        await login(service, { username, password }),
        await login(service, { username: newName(), password }),
        await login(service, { username: { a: password }, password }),
        await service.call('GET', '/platform/users/me', { session: user.token }),
        await service.call('GET', '/platform/sessions/me', { session: user.token }),
        await updateUser(service, user.id, { password }),
        await updateUser(service, user.id, { password: { a: password } }),
        await updateUser(service, user.id, { password, email: password }),
        await service.call('POST', '/platform/users', { body: { username, password } }),
        await service.call('POST', '/platform/users', { body: { username: newName(), password: `${password}\0` } }),
      ];
      for (const { text } of answers) assert.ok(!text.includes(password), text);
      for (const value of [password, made.body.sessionToken]) conceal(value);
    });

    test('Requests that fail', async () => {
      const [token, password] = [conceal(`r:${'ab'.repeat(16)}`), conceal(secret())];
      const plain = (body: string, headers: Record<string, string> = {}) =>
        fetch(`${service.url}/platform/login`, { method: 'POST', body, headers });
      await plain(JSON.stringify({ _ApplicationId: service.appId, username: 'x', password, _SessionToken: token }));
      await plain(`{"_ApplicationId":"${service.appId}","_SessionToken":"${token}","password":"${password}"`);
      await plain(`username=x&password=${password}`, { 'Content-Type': 'application/x-www-form-urlencoded' });
      await service.call('GET', '/platform/login', { as: 'anonymous', query: { username: 'x', password, sessionToken: token } });
      await service.call('GET', '/platform/login', { as: 'anonymous', query: { username: password, password: token } });
      await service.call('GET', '/platform/users/me', { session: token, headers: { Referer: `http://a/?token=${token}` } });
      await service.call('POST', '/platform/users', { session: token, body: { username: 'x', password } });
      await service.call('POST', '/platform/users', { body: { username: newName(), password: { __op: password } } });
      await service.call('POST', '/platform/users', { as: 'anonymous', body: { username: newName(), password } });
      await service.call('POST', '/platform/logout', { as: 'anonymous', body: { _SessionToken: token } });
    });

    test('Requests that change passwords and sessions', async () => {
      const user = await newUser();
      const password = conceal(secret());
      await changeUser(service, user, { password });
      const token = conceal(await newSession(service, user, { password }));
      const made = await service.call('POST', '/platform/sessions', { session: token, body: {} });
      conceal(made.body.sessionToken);
      const batch = conceal(secret());
      const requests = [{ method: 'PUT', path: `/platform/users/${user.id}`, body: { password: batch } }];
      await service.call('POST', '/platform/batch', { body: { requests } });
      assert.equal(await isAlive(service, token), false);
      const session = conceal(await newSession(service, user, { password: batch }));
      await service.call('POST', '/platform/logout', { session, headers: { Referer: `http://a/?sessionToken=${session}` } });
    });

    test('`_RequestLog`: no row of all these holds one', async () => {
      await wait(400);
      const { body, text } = await service.call('GET', '/platform/classes/_RequestLog', { query: { limit: 10_000 } });
      assert.ok(body.results.length > 10, text.slice(0, 200));
      assertHidden('_RequestLog', text);
    });

    test('what is stored holds none as plain text, while it runs', async () => {
      const files = await storedIn(service);
      for (const part of engine === 'sqlite' ? ['.sqlite', '.sqlite-wal'] : ['"t__User"', '"t__Session"'])
        assert.ok(
          files.some(({ path }) => path.endsWith(part)),
          part,
        );
      for (const { path, bytes } of files) assertHidden(path, bytes);
    });

    test('the log holds none at LOG_LEVEL=debug', async () => {
      await wait(100);
      assert.ok(service.output().length > 1000, 'it logs requests');
      assertHidden('the log', service.output());
    });
  });
