import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../kernel/json.ts';
import type { MailMessage } from '../../mail/index.ts';
import { createLog } from '../../observe/index.ts';
import { createRecord, readRows } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { fieldOf } from '../../schema/model.ts';
import { rowContext } from '../../storage/sql/testing/addresses.ts';
import { ReaderPool } from '../../storage/sqlite/reads/reader-pool.ts';
import { SqliteStore } from '../../storage/sqlite/store.ts';
import { FaultyStore } from '../../storage/testing/faulty-store.ts';
import { provision } from '../../systems/provision.ts';
import { holds } from '../accounts/user-filters.ts';
import { logIn } from '../login.ts';
import { userTableRules } from '../users.ts';
import { resetPassword } from './reset-password.ts';
import { PasswordResets } from './reset-requests.ts';

const old = 'Old-password-1';
const fresh = 'New-password-2';

describe('password reset', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-reset-'));
  const sent: MailMessage[] = [];
  let pool: ReaderPool;
  let store: SqliteStore;
  let holders = 0;
  let whenFree = () => {};
  let resets: PasswordResets;

  before(async () => {
    pool = new ReaderPool(1_000, assert.fail);
    store = new SqliteStore(join(directory, 'records.sqlite'), { pool, report: assert.fail, ...rowContext });
    await provision(store);
    resets = new PasswordResets({
      mailer: { send: async (message) => void sent.push(message) },
      addresses: { base: 'https://crm.example.com' },
      log: createLog('silent'),
    });
  });
  after(async () => {
    await store.close();
    await pool.close();
    rmSync(directory, { recursive: true });
  });

  const system = {
    appId: 'app',
    get store() {
      return store;
    },
    isClosing: false,
    isHeld: false,
    hold: () => void holders++,
    release: () => {
      if (--holders === 0) whenFree();
    },
  };
  const add = async (name: string, more: JsonObject = {}) => {
    const body = { username: name, email: `${name}@example.com`, password: old, ...more };
    const context = masterContext(store, userTableRules);
    return (await createRecord(context, '_User', body)).objectId;
  };
  /** @returns the tokens of the messages that a request caused */
  const ask = async (email: string): Promise<string[]> => {
    const from = sent.length;
    resets.request(system, { email });
    while (holders > 0) await new Promise<void>((resolve) => (whenFree = resolve));
    await new Promise(setImmediate);
    return sent.slice(from).map(({ text = '' }) => /\?token=([\w-]{32})$/m.exec(text)?.[1] ?? 'none');
  };
  const enter = (username: string, password: string) =>
    logIn(store, { username, email: undefined, password, installationId: null, network: '', sessionDays: 1 });
  const rows = <Row>(className: string, fields: string[], field: string, value: string) =>
    readRows<Row>(store, { className, fields, filter: (table) => holds(table, field, value) });

  for (const body of [
    {},
    { email: null },
    { email: '' },
    { email: '  ' },
    { email: 5 },
    { email: ['a@example.com'] },
  ] as JsonObject[])
    test(`no address: ${JSON.stringify(body)}`, () => {
      assert.throws(() => resets.request(system, body), { code: 204 });
      assert.equal(holders, 0);
    });

  test('who has no account, or no access, gets no message', async () => {
    await add('blocked', { active: false });
    assert.deepEqual(await ask('nobody@example.com'), []);
    assert.deepEqual(await ask('blocked@example.com'), []);
    assert.deepEqual(await ask(`${'a'.repeat(2_000)}@example.com`), []);
  });

  test('the answer comes before the user is looked up and is the same for all', async () => {
    await add('asked');
    const from = sent.length;
    const answers = ['asked@example.com', 'unknown@example.com'].map((email) =>
      JSON.stringify(resets.request(system, { email })),
    );
    assert.equal(answers[0], answers[1]);
    assert.deepEqual([sent.length - from, holders], [0, 2]);
    await ask('nobody@example.com');
  });

  test('a request that meets a fault of the store is carried out when that is over, once', async () => {
    await add('patient');
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    const from = sent.length;
    faulty.leave();
    resets.request({ ...system, store: faulty.store }, { email: 'patient@example.com' });
    await wait(700);
    assert.deepEqual([sent.length - from, holders], [0, 1]);
    faulty.back();
    while (holders > 0) await new Promise<void>((resolve) => (whenFree = resolve));
    await new Promise(setImmediate);
    assert.deepEqual(
      sent.slice(from).map(({ to }) => to),
      ['patient@example.com'],
    );
  });

  test('while the system is held the message waits, with a link that is made when it goes', async () => {
    await add('held');
    const held = { ...system, isHeld: true };
    const from = sent.length;
    resets.request(held, { email: 'held@example.com' });
    await wait(700);
    assert.deepEqual([sent.length - from, holders], [0, 1]);
    held.isHeld = false;
    while (holders > 0) await new Promise<void>((resolve) => (whenFree = resolve));
    await new Promise(setImmediate);
    assert.deepEqual(
      sent.slice(from).map(({ to }) => to),
      ['held@example.com'],
    );
  });

  test('a system that is closed meanwhile is left', async () => {
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    let isClosing = false;
    faulty.leave();
    resets.request(Object.defineProperty({ ...system, store: faulty.store }, 'isClosing', { get: () => isClosing }), {
      email: 'patient@example.com',
    });
    await wait(300);
    assert.equal(holders, 1);
    isClosing = true;
    while (holders > 0) await new Promise<void>((resolve) => (whenFree = resolve));
  });

  test('the message goes to the address as it is kept, and holds the link in both forms', async () => {
    await add('kept', { email: ' Kept@Example.com ' });
    const [token] = await ask('KEPT@example.COM');
    const message = sent.at(-1);
    assert.equal(message?.to, 'Kept@Example.com');
    const link = `https://crm.example.com/password-reset/app?token=${token}`;
    assert.ok(message?.text?.includes(link) && message.html.includes(`href="${link}"`));
    assert.doesNotMatch(message?.html ?? '', /<(?:img|script|link)|src=/);
  });

  test('a link sets the password, once, ends all sessions and unlocks', async () => {
    const userId = await add('dana');
    const { token: session } = await enter('dana', old);
    assert.ok(session);
    for (let n = 0; n < 8; n++) await assert.rejects(enter('dana', 'wrong'), { key: 'badLogin' });
    await assert.rejects(enter('dana', old), { key: 'accountLocked' });
    const [token = ''] = await ask('dana@example.com');
    const [kept] = await rows<{ _reset_token: string }>('_User', ['_reset_token'], 'objectId', userId);
    assert.ok(kept?._reset_token && kept._reset_token !== token);
    assert.equal(await resetPassword(store, token, 'weak', ''), 'weakPassword');
    assert.equal(await resetPassword(store, token, fresh, ''), 'done');
    assert.deepEqual(await rows('_Session', ['objectId'], 'user', userId), []);
    const after = ['password', '_reset_token', '_reset_expires_at', '_failed_login_count', '_last_failed_login'];
    const [{ password, ...user } = {}] = await rows<Record<string, unknown>>('_User', after, 'objectId', userId);
    assert.deepEqual(user, { _failed_login_count: 0 });
    assert.match(String(password), /^\$argon2id\$/);
    await enter('dana', fresh);
    assert.equal(await resetPassword(store, token, `${fresh}b`, ''), 'badLink');
  });

  test('of two uses at once exactly one succeeds, and the sessions of others stay', async () => {
    const other = await add('other');
    await enter('other', old);
    await add('twice');
    const [token = ''] = await ask('twice@example.com');
    const outcomes = await Promise.all([
      resetPassword(store, token, `${fresh}a`, ''),
      resetPassword(store, token, `${fresh}b`, ''),
    ]);
    assert.deepEqual(outcomes.toSorted(), ['badLink', 'done']);
    await enter('twice', outcomes[0] === 'done' ? `${fresh}a` : `${fresh}b`);
    assert.equal((await rows('_Session', ['objectId'], 'user', other)).length, 1);
  });

  test('a newer link takes the place of an older one', async () => {
    await add('newer');
    const [first = ''] = await ask('newer@example.com');
    const [second = ''] = await ask('newer@example.com');
    assert.equal(await resetPassword(store, first, fresh, ''), 'badLink');
    assert.equal(await resetPassword(store, second, fresh, ''), 'done');
  });

  test('a link that has expired leaves the password and the sessions alone', async () => {
    const userId = await add('late');
    await enter('late', old);
    const [token = ''] = await ask('late@example.com');
    await store.write({
      plan(schema) {
        const table = schema.tables.get('_User');
        assert.ok(table);
        const expiry = { kind: 'set', field: fieldOf(table, '_reset_expires_at'), value: Date.now() } as const;
        return {
          changes: [],
          mutations: [{ kind: 'update', table, objectId: userId, guard: null, assignments: [expiry], returning: [] }],
        };
      },
    });
    assert.equal(await resetPassword(store, token, fresh, ''), 'badLink');
    assert.equal((await rows('_Session', ['objectId'], 'user', userId)).length, 1);
    await enter('late', old);
  });

  for (const forged of ['', 'x', 'A'.repeat(32), `${'A'.repeat(31)}'`, 'A'.repeat(10_000)])
    test(`a forged token: ${forged.slice(0, 40)}`, async () =>
      assert.equal(await resetPassword(store, forged, fresh, ''), 'badLink'));

  test('messages to one user have a bound; the last link stays good', async () => {
    await add('flooded');
    const tokens: string[] = [];
    for (let n = 0; n < 25; n++) tokens.push(...(await ask('flooded@example.com')));
    assert.equal(tokens.length, 20);
    assert.equal(await resetPassword(store, tokens.at(-1) ?? '', fresh, ''), 'done');
  });
});
