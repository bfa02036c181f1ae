import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isInDoubt } from '../errors/fail.ts';
import { createRecord, errorToReport } from '../records/index.ts';
import { masterContext } from '../records/testing/context.ts';
import { importedHashesField } from '../schema/system-tables.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/index.ts';
import { FaultyStore } from '../storage/testing/faulty-store.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from '../systems/provision.ts';
import { updateUser } from './accounts/user-update.ts';
import { changePassword } from './change-password.ts';
import { Users, userTableRules } from './index.ts';
import { authenticate } from './login.ts';

const COMMIT_MS = 400;
const password = 'Right1Pass';

let directory = '';
let engine: SqliteEngine;
let store: Store;
/** The store, with slow commits. */
let slow: Store;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rds-login-'));
  engine = new SqliteEngine(directory, { timeLimit: 30_000, report: assert.fail, addressesOf });
  store = await openAnyway(engine, 'app');
  await provision(store);
  await createRecord(masterContext(store, userTableRules), '_User', { username: 'known', password });
  slow = new Proxy(store, {
    get(target, name) {
      if (name === 'write') return (...given: Parameters<Store['write']>) => wait(COMMIT_MS).then(() => target.write(...given));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
});
after(async () => {
  await store.close();
  await engine.close();
  await rm(directory, { recursive: true });
});

test('a name that nobody has takes no less time than one whose failure is counted in a commit', async () => {
  const refused = async (username: string): Promise<number> => {
    const began = performance.now();
    await assert.rejects(authenticate(slow, { username, password: 'Wrong3Pass', network: '192.0.2.1' }), { code: 101 });
    return performance.now() - began;
  };
  await refused('known');
  for (const name of ['unknown', 'another']) assert.ok((await refused(name)) >= COMMIT_MS - 10, name);
});

test('an attempt that meets a fault of the store counts as none, and does not reveal who is known', async () => {
  await createRecord(masterContext(store, userTableRules), '_User', { username: 'unlucky', password });
  const faulty = new FaultyStore(store, { fate: () => 'undone' });
  // Reads still work, as with a full disk.
  const full: Store = new Proxy(faulty.store, {
    get: (target, name) => (name === 'reader' ? store.reader : Reflect.get(target, name, target)),
  });
  const attempt = (username: string, sent: string) => authenticate(full, { username, password: sent, network: '192.0.2.2' });
  faulty.leave();
  for (let n = 0; n < 10; n++) await assert.rejects(attempt('unlucky', 'Wrong3Pass'), { key: 'unavailable' });
  await assert.rejects(attempt('nobody', 'Wrong3Pass'), { key: 'unavailable' });
  await assert.rejects(attempt('unlucky', password), { key: 'unavailable' });
  faulty.back();
  await attempt('unlucky', password);
  await assert.rejects(attempt('nobody', 'Wrong3Pass'), { key: 'badLogin' });
});

test('a login whose session was opened as the store went is in doubt: nobody is reported that nothing was done', async () => {
  const faulty = new FaultyStore(store, { fate: () => 'undone' });
  const leaving: Store = new Proxy(faulty.store, {
    get(target, name) {
      if (name !== 'write') return Reflect.get(target, name, target);
      return async (...given: Parameters<Store['write']>) => {
        const outcome = await target.write(...given);
        faulty.leave();
        return outcome;
      };
    },
  });
  const progress = { hasWritten: false };
  const client = { installationId: null, network: '192.0.2.3', isGone: () => false };
  const context = { ...masterContext(leaving, userTableRules), progress };
  const error = await new Users(1).logIn(context, { username: 'known', password }, client).catch((thrown) => thrown);
  assert.ok(isInDoubt(errorToReport(error, progress)), String(error));
});

test('a user whose hash another service made changes their password, and one whose hash is replaced meanwhile signs in', async () => {
  // bcrypt of `Right1Pass`
  const imported = '$2b$04$LwWhWj2x5TykX52pJRI3VeauLFVk./zlcOMKeWWQC94IY2xqqKude';
  await store.write({
    plan: () => ({
      changes: [{ kind: 'addField', className: '_User', name: importedHashesField, type: 'Boolean' }],
      mutations: [],
    }),
  });
  const keep = async (username: string): Promise<string> => {
    const { objectId } = await createRecord(masterContext(store, userTableRules), '_User', { username, password });
    const isKept = await updateUser(store, objectId, () => ({ condition: { kind: 'always' }, set: { password: imported } }));
    assert.ok(isKept);
    return objectId;
  };
  const changing = await keep('changing');
  await changePassword(store, changing, { oldPassword: password, newPassword: 'Other2Pass', network: '192.0.2.1' });
  await authenticate(store, { username: 'changing', password: 'Other2Pass', network: '192.0.2.1' });
  await assert.rejects(authenticate(store, { username: 'changing', password, network: '192.0.2.1' }), { code: 101 });
  await keep('twice');
  const attempt = { username: 'twice', password, network: '192.0.2.1' };
  await Promise.all([authenticate(store, attempt), authenticate(slow, attempt)]);
});
