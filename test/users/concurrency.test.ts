/** Concurrent requests about the same user: counts stay exact, names stay unique, and ended sessions stay ended. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertRefused, unique, useStore } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import {
  badLogin,
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
  type User,
  updateUser,
  wrong,
} from '../support/users.ts';

const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));
const sorted = (answers: Answer[]) => answers.map(({ status, body }) => body?.code ?? status).sort();

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const attempt = (user: User, secret: string) => login(store, { username: user.username, password: secret });
    const countOf = (answers: Answer[], { error }: { error?: string | RegExp }) =>
      answers.filter(({ status, body }) => status === 404 && body.error === error).length;

    test('States/Failed login: 8 parallel wrong ones count 8', async () => {
      const user = await signUp(store);
      const answers = await times(8, () => attempt(user, wrong));
      assert.equal(countOf(answers, badLogin), 8);
      assert.equal(await failedLogins(store, user), 8);
      assertRefused(await attempt(user, password), locked);
    });

    test('States/8 consecutive failed logins: 40 parallel wrong ones, in whatever form, get 8 tries', async () => {
      const email = `${newName()}@example.com`;
      const user = await signUp(store, { email });
      const forms = [{ username: user.username }, { username: ` ${user.username.toUpperCase()}` }, { email }];
      const answers = await times(40, (i) => login(store, { ...forms[i % forms.length], password: wrong }));
      assert.deepEqual([countOf(answers, badLogin), countOf(answers, locked)], [8, 32]);
      assert.equal(await failedLogins(store, user), 8);
      assertRefused(await attempt(user, password), locked);
    });

    test('States/8 consecutive failed logins: right ones, however many at once, are no failed ones', async () => {
      const user = await signUp(store);
      const answers = await times(20, () => attempt(user, password));
      for (const { status, text } of answers) assert.equal(status, 200, text);
      assert.equal(await failedLogins(store, user), 0);
      assert.equal(new Set(answers.map(({ body }) => body.sessionToken)).size, 20);
    });

    test('States/7 failed logins and two right ones at once', async () => {
      const user = await signUp(store);
      await failLogins(store, user.username, 7);
      const answers = await times(2, () => attempt(user, password));
      assert.deepEqual(sorted(answers), [200, 200]);
      assert.equal(await failedLogins(store, user), 0);
    });

    test('Errors/202: parallel sign-ups of one name, in whatever form: one is made', async () => {
      const name = newName();
      const forms = [name, name.toUpperCase(), ` ${name}`, `${name} `];
      const places = ['/platform/users', '/platform/classes/_User'];
      const answers = await times(8, (i) =>
        store.call('POST', places[i % 2] as string, { body: { username: forms[i % 4], password, name } }),
      );
      assert.deepEqual(sorted(answers), [201, 202, 202, 202, 202, 202, 202, 202]);
      const { body } = await store.call('GET', '/platform/users', { query: { where: { name } } });
      assert.equal(body.results.length, 1);
    });

    test('parallel sign-ups of one e-mail address: one is made', async () => {
      const email = `${newName()}@example.com`;
      const answers = await times(4, (i) =>
        store.call('POST', '/platform/users', {
          body: { username: newName(), password, email: i % 2 ? email : email.toUpperCase() },
        }),
      );
      assert.deepEqual(sorted(answers), [201, 203, 203, 203]);
    });

    test('Errors/202: two users renamed to one name at once: one is', async () => {
      const users = [await signUp(store), await signUp(store)];
      const username = newName();
      const answers = await Promise.all(
        users.map(({ id }, i) => updateUser(store, id, { username: i ? username.toUpperCase() : username })),
      );
      assert.deepEqual(sorted(answers), [200, 202]);
      const renamed = users[answers.findIndex(({ status }) => status === 200)];
      assert.equal((await login(store, { username, password })).body.objectId, renamed?.id);
    });

    test('parallel roles of one name: one is made', async () => {
      const name = unique('Role');
      const answers = await times(6, () => store.call('POST', '/platform/roles', { body: { name } }));
      assert.deepEqual(sorted(answers), [137, 137, 137, 137, 137, 201]);
    });

    test('parallel logins of one installation leave one session', async () => {
      const user = await signUp(store);
      const headers = { 'X-Platform-Installation-Id': 'phone' };
      const tokens = await times(5, () => newSession(store, user, { headers }));
      assert.equal((await sessionRows(store, user, { installationId: 'phone' })).length, 1);
      const alive = await Promise.all(tokens.map((token) => isAlive(store, token)));
      assert.equal(alive.filter(Boolean).length, 1);
    });

    /** Asserts that a login concurrent with a write that ends the user's sessions leaves none, in either order. */
    const besideLogins = async (end: (user: User) => Promise<Answer>) => {
      for (const [first, second] of [
        [0, 5],
        [0, 25],
        [2, 0],
        [8, 0],
        [15, 0],
      ] as const) {
        const user = await signUp(store);
        const logins = times(3, async (i) => {
          await pause(first + i);
          return attempt(user, password);
        });
        await pause(second);
        const answer = await end(user);
        assert.equal(answer.status, 200, answer.text);
        const when = `logins after ${first} ms, the write after ${second} ms`;
        for (const { status, body } of await logins) {
          if (status === 200) assert.equal(await isAlive(store, body.sessionToken), false, when);
          else assert.notEqual(body.error, locked.error, `${when}: nobody failed eight times`);
        }
        assert.deepEqual(await sessionRows(store, user), []);
      }
    };

    test('a password written while somebody logs in with the old one leaves no session of it', () =>
      besideLogins(({ id }) => updateUser(store, id, { password: otherPassword })));

    test('`active: false` during a login leaves no session', () =>
      besideLogins(({ id }) => updateUser(store, id, { active: false })));

    test('Users/Delete user: a user who is deleted during a login leaves no session', () =>
      besideLogins(({ id }) => store.call('DELETE', `/platform/users/${id}`)));

    /** The same for a user who creates further sessions, each with the previous one, until refused. */
    const besideSessions = async (end: (user: User) => Promise<Answer>) => {
      for (let round = 0; round < 3; round++) {
        const user = await signUp(store);
        const tokens = [user.token];
        const make = async () => {
          const answer = await store.call('POST', '/platform/sessions', { session: tokens.at(-1) as string, body: {} });
          if (answer.status === 201) tokens.push(answer.body.sessionToken);
          else assert.equal(answer.body.code, 209, answer.text);
          return answer.status === 201;
        };
        const until = Date.now() + 1_000;
        const making = times(4, async () => {
          while (Date.now() < until && (await make()));
        });
        await pause(10);
        assert.equal((await end(user)).status, 200);
        await making;
        assert.equal((await sessionRows(store, user)).length, 0);
        for (const token of tokens.slice(-8)) assert.equal(await isAlive(store, token), false);
      }
    };

    test('a password written while further sessions are made ends them all', () =>
      besideSessions(({ id }) => updateUser(store, id, { password: otherPassword })));

    test('`active: false` while further sessions are made ends them all', () =>
      besideSessions(({ id }) => updateUser(store, id, { active: false })));

    test('Errors/119: a user is deleted while records come to point at them: none of them dangles', async () => {
      const table = await store.table({ Owner: { type: 'Pointer', targetClass: '_User' } });
      for (let round = 0; round < 3; round++) {
        const user = await signUp(store);
        const Owner = { __type: 'Pointer', className: '_User', objectId: user.id };
        const [removed, ...made] = await Promise.all([
          store.call('DELETE', `/platform/users/${user.id}`),
          ...Array.from({ length: 4 }, () => store.post(table, { Owner })),
        ]);
        for (const { status } of made) assert.equal(status, 201);
        // A Pointer to an unknown id is stored as it is: one stored after the delete may dangle, one stored before blocks the delete.
        if (removed.status !== 200) {
          assert.equal(removed.body.code, 119);
          assert.ok(await isAlive(store, user.token));
        } else assert.equal(await isAlive(store, user.token), false);
      }
    });
  });
