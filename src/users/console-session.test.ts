import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, mock, test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import { createRecord } from '../records/index.ts';
import { masterContext } from '../records/testing/context.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/index.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from '../systems/provision.ts';
import { consoleSession, fileTokenOf, fileTokenUser, logInToConsole, logOutOfConsole } from './console-session.ts';
import { principalOfSession, userTableRules } from './index.ts';

const password = 'Right1Pass';
const badSession = { code: 209 };
const scope = { secret: 'a secret', appId: 'app' };

let directory = '';
let engine: SqliteEngine;
let store: Store;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rds-console-session-'));
  engine = new SqliteEngine(directory, { timeLimit: 30_000, report: assert.fail, addressesOf });
  store = await openAnyway(engine, 'app');
  await provision(store);
  await createRecord(masterContext(store, userTableRules), '_User', { username: 'known', password });
  // From here on the clock only moves when a test moves it.
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
});
after(async () => {
  mock.timers.reset();
  await store.close();
  await engine.close();
  await rm(directory, { recursive: true });
});

const logIn = () => logInToConsole(store, { username: 'known', password, network: '192.0.2.1' });
/** Advances the clock. */
const pass = (time: number) => mock.timers.setTime(Date.now() + time);

test('a session lasts twelve hours after its last use', async () => {
  const token = await logIn();
  pass(11 * HOUR_MS);
  await consoleSession(store, token);
  pass(11 * HOUR_MS);
  await consoleSession(store, token);
  pass(12 * HOUR_MS + 1);
  await assert.rejects(consoleSession(store, token), badSession);
});

test('however much it is used, it lasts seven days', async () => {
  const token = await logIn();
  const began = Date.now();
  while (Date.now() - began < 7 * DAY_MS - HOUR_MS) {
    await consoleSession(store, token);
    pass(HOUR_MS);
  }
  pass(HOUR_MS + 1);
  await assert.rejects(consoleSession(store, token), badSession);
});

test('it is written once an hour at most', async () => {
  const token = await logIn();
  const version = () => store.tableVersion('_Session');
  const before = version();
  for (let minute = 0; minute < 60; minute++) {
    pass(HOUR_MS / 60);
    await consoleSession(store, token);
  }
  assert.equal(version(), before);
  pass(HOUR_MS / 60);
  await consoleSession(store, token);
  assert.notEqual(version(), before);
});

test('its token is none elsewhere, and tokens of elsewhere are none here', async () => {
  const token = await logIn();
  await assert.rejects(principalOfSession(store, token), badSession);
  for (const other of [
    `r:${'0'.repeat(32)}`,
    `c:${'0'.repeat(63)}`,
    `c:${'0'.repeat(64)}`,
    `${token} `,
    undefined,
    null,
    1,
    [token],
  ])
    await assert.rejects(consoleSession(store, other), badSession);
});

test('a token for files is good for its system, as long as its session', async () => {
  const token = await logIn();
  const fileToken = fileTokenOf(scope, await consoleSession(store, token), token);
  const { principal } = await consoleSession(store, token);
  assert.equal((await fileTokenUser(scope, store, fileToken))?.userId, principal.userId);
  const another = fileTokenOf(scope, await consoleSession(store, await logIn()), await logIn());
  for (const wrong of [another, `${fileToken}A`, fileToken.replace('.', '..'), token, '', '.', 'x.y'])
    assert.equal(await fileTokenUser(scope, store, wrong), null, wrong);
  for (const other of [
    { ...scope, appId: 'other' },
    { ...scope, secret: 'another' },
  ])
    assert.equal(await fileTokenUser(other, store, fileToken), null);
  await logOutOfConsole(store, token);
  assert.equal(await fileTokenUser(scope, store, fileToken), null);
  await logOutOfConsole(store, token);
});
