import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Refusal, unique, useStore } from '../support/records.ts';
import { type CallOptions, sampledEngines } from '../support/service.ts';
import {
  badLogin,
  badPassword,
  captcha,
  changeUser,
  denied,
  emailTaken,
  login,
  me,
  nameTaken,
  newName,
  password,
  signUp,
  tokenForm,
} from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);
    const post = (body: unknown, options: CallOptions = {}, at = '/platform/users') =>
      store.call('POST', at, { ...options, body });
    const users = ['/platform/users', '/platform/classes/_User'];

    /** Asserts that a sign-up is refused and leaves neither a user nor a column. */
    const refused = async (body: unknown, refusal: Refusal, options?: CallOptions, at?: string) => {
      const before = await store.snapshot('_User');
      const answer = await post(body, options, at);
      assertRefused(answer, refusal);
      assert.equal(await store.snapshot('_User'), before);
      return answer;
    };

    for (const as of ['master', 'apiKey'] as const)
      test(`Users/Sign up: 201 {objectId, createdAt, sessionToken} with the ${as}`, async () => {
        const answer = await post({ username: newName(), password }, { as });
        assert.equal(answer.status, 201, answer.text);
        assert.deepEqual(Object.keys(answer.body).sort(), ['createdAt', 'objectId', 'sessionToken']);
        assert.equal(answer.body.objectId.length, 10);
        assert.match(answer.body.sessionToken, tokenForm);
        assert.ok(Math.abs(Date.parse(answer.body.createdAt) - Date.now()) < 60_000);
        assert.equal((await me(store, answer.body.sessionToken)).body.objectId, answer.body.objectId);
      });

    test('Users/Sign up: further fields are kept; phone, job, isPortalUser are created on first write', async () => {
      const fields = { email: `${newName()}@example.com`, name: 'דנה', phone: '050', job: 'x', isPortalUser: true, active: true };
      const { id, username } = await signUp(store, fields);
      const record = await store.read('_User', id);
      for (const [name, value] of Object.entries({ ...fields, username })) assert.equal(record[name], value, name);
      assert.equal(record.createdBy.objectId, 'master');
      assert.deepEqual(record.ACL, {}, 'empty unless sent');
      assert.ok(!('password' in record));
    });

    for (const at of users) {
      test(`Authentication 7: creating users is locked to the keys: anonymous meets the CAPTCHA text (${at})`, async () => {
        await refused({ username: newName(), password }, captcha, { as: 'anonymous' }, at);
      });

      test(`Authentication 7: creating users is locked to the keys: a session is refused (${at})`, async () => {
        const { token } = await signUp(store);
        await refused({ username: newName(), password }, denied('create', '_User'), { session: token }, at);
      });

      test(`sign-up rules hold at ${at}`, async () => {
        const username = newName();
        const answer = await post({ username, password }, {}, at);
        assert.equal(answer.status, 201, answer.text);
        assert.equal((await login(store, { username, password })).status, 200);
        await refused({ username, password }, nameTaken, {}, at);
        await refused({ username: newName(), password: 'short' }, badPassword, {}, at);
        await refused({ password }, { code: 200, error: 'bad or missing username' }, {}, at);
      });
    }

    const missing: [string, object, Refusal][] = [
      ['no username', { password }, { code: 200, error: 'bad or missing username' }],
      ['an empty username', { username: '', password }, { code: 200, error: 'bad or missing username' }],
      ['neither', {}, { code: 200, error: 'bad or missing username' }],
      ['no password', { username: newName() }, { code: 201, error: 'password is required' }],
      ['an empty password', { username: newName(), password: '' }, { code: 201, error: 'password is required' }],
      ['a username that is an Object', { username: { a: 1 }, password }, { code: [111, 200] }],
      ['a username that is an operator', { username: { __op: 'Delete' }, password }, { code: [111, 200] }],
      ['a password that is an Object', { username: newName(), password: { a: 1 } }, { code: [111, 201] }],
      ['a password that is an Array', { username: newName(), password: [password] }, { code: [111, 201] }],
      ['an e-mail address that is none', { username: newName(), password, email: 'nobody' }, { code: 125 }],
      ['an e-mail address with spaces', { username: newName(), password, email: 'a b@c.de' }, { code: 125 }],
      ['an e-mail address without a name', { username: newName(), password, email: '@c.de' }, { code: 125 }],
      ['an e-mail address without a host', { username: newName(), password, email: 'a@' }, { code: 125 }],
      ['an e-mail address in brackets', { username: newName(), password, email: '<a@b.cd>' }, { code: 125 }],
      ['a list of e-mail addresses', { username: newName(), password, email: 'a,b@c.de' }, { code: 125 }],
      [
        'an e-mail address with a character that is not seen',
        { username: newName(), password, email: 'a\u200b@c.de' },
        { code: 125 },
      ],
    ];
    for (const [what, body, refusal] of missing)
      test(`sign-up with ${what} is ${refusal.code}`, async () => {
        const answer = await refused(body, refusal);
        if (refusal.code === 125) assert.equal(answer.body.error, 'Email address format is invalid.');
      });

    for (const [what, weak] of [
      ['seven characters', 'Abcdef1'],
      ['no lower-case letter', 'ABCDEFG1'],
      ['no upper-case letter', 'abcdefg1'],
      ['no digit', 'Abcdefgh'],
      ['letters without case only', 'אבגדהוזח1'],
      ['1,001 characters', `A1${'b'.repeat(999)}`],
    ] as const)
      test(`${what} is 142, with the same message each time`, async () => {
        await refused({ username: newName(), password: weak }, badPassword);
      });

    for (const [what, good] of [
      ['eight characters', 'Abcdefg1'],
      ['1,000 characters', `A1${'b'.repeat(998)}`],
      ['letters and digits of another script', 'Γράμματα٣'],
      ['spaces around', ' Abcdef1 '],
    ] as const)
      test(`${what} will do, and is compared exactly`, async () => {
        const { username } = await signUp(store, { password: good });
        assert.equal((await login(store, { username, password: good })).status, 200);
        const other = good.trim() === good ? good.slice(0, -1) : good.trim();
        assertRefused(await login(store, { username, password: other }), badLogin);
      });

    test('Errors/202: where the username and the e-mail address are in use, the username is named', async () => {
      const email = `${newName()}@example.com`;
      await signUp(store, { username: email, email });
      await refused({ username: email, password, email }, nameTaken);
      await refused({ username: email, password, email }, nameTaken, { as: 'apiKey' });
      const other = await signUp(store);
      const answer = await store.call('PUT', `/platform/users/${other.id}`, { body: { email, username: email } });
      assert.deepEqual([answer.status, answer.body.code], [400, 202], answer.text);
      await refused({ username: newName(), password, email }, emailTaken);
    });

    for (const [what, form] of [
      ['the same', (name: string) => name],
      ['in other case', (name: string) => name.toUpperCase()],
      ['with spaces around', (name: string) => `  ${name}\t`],
    ] as const) {
      test(`Errors/202: a username that is there, ${what}`, async () => {
        const { username } = await signUp(store);
        await refused({ username: form(username), password }, nameTaken);
        await refused({ username: form(username), password }, nameTaken, { as: 'apiKey' });
      });

      test(`an e-mail address that is in use, ${what}`, async () => {
        const email = `${newName()}@example.com`;
        await signUp(store, { email });
        await refused({ username: newName(), password, email: form(email) }, emailTaken);
      });
    }

    test('names and addresses are kept as sent', async () => {
      const username = ` Name ${newName()} `;
      const { id } = await signUp(store, { username });
      assert.equal((await store.read('_User', id)).username, username);
    });

    test('`_User`/username: values that are no e-mail address are accepted', async () => {
      await signUp(store, { username: `דנה כהן ${newName()}` });
    });

    for (const field of ['_username_key', '_email_key', '_reset_token', '_reset_expires_at', '_last_failed_login'])
      test(`${field} is the service's own and is not written`, async () => {
        await refused({ username: newName(), password, [field]: 'x' }, { code: [105, 119] });
      });

    test('a sessionToken in a body is passed over, places inside it too', async () => {
      const { id } = await signUp(store, { sessionToken: 'r:x', 'sessionToken.a': 1 });
      await changeUser(store, { id }, { 'sessionToken.a': 1 });
      assert.equal((await store.fields('_User')).sessionToken, undefined);
    });

    test('Records: an objectId longer than a client takes headers is no hindrance', async () => {
      const objectId = newName() + 'x'.repeat(30_000);
      assert.equal((await signUp(store, { objectId })).id, objectId);
    });

    test('Batch: sign-ups are items like others; the second of one name fails alone', async () => {
      const username = newName();
      const item = (at: string, body: object) => ({ method: 'POST', path: at, body });
      const { body } = await store.call('POST', '/platform/batch', {
        body: {
          requests: [
            item('/platform/users', { username, password }),
            item('/platform/classes/_User', { username: username.toUpperCase(), password }),
            item('/platform/users', { username: newName(), password: 'short' }),
            item('/platform/users', { username: newName(), password }),
          ],
        },
      });
      assert.deepEqual(
        body.map((one: { error?: { code: number } }) => one.error?.code),
        [undefined, 202, 142, undefined],
      );
      assert.equal(body[0].success.objectId.length, 10);
      assert.equal((await login(store, { username, password })).status, 200);
    });

    test('a refused sign-up leaves no column', async () => {
      const field = unique('f');
      await refused({ username: newName(), password: 'short', [field]: 1 }, badPassword);
      assert.ok(!(await store.fields('_User'))[field]);
    });
  });
