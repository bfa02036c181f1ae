import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fail } from '../errors/fail.ts';
import { newObjectId } from '../kernel/ids.ts';
import { DAY_MS } from '../kernel/time.ts';
import { createRecord, type RecordContext } from '../records/index.ts';
import { masterContext } from '../records/testing/context.ts';
import { planTable } from '../schema/definition.ts';
import { tableOf } from '../schema/model.ts';
import { columnsOf } from '../storage/column-values.ts';
import { rowContext } from '../storage/sql/testing/addresses.ts';
import { ReaderPool } from '../storage/sqlite/reads/reader-pool.ts';
import { SqliteStore } from '../storage/sqlite/store.ts';
import { type RequestKey, requestKey, sentKey } from './key.ts';
import { readKey } from './key-rows.ts';
import { once, onceStepwise } from './once.ts';
import { keeping } from './record-results.ts';
import { seal, unseal } from './sealed.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-once-'));
let pool: ReaderPool;
let store: SqliteStore;
let context: RecordContext;
before(async () => {
  pool = new ReaderPool(10_000, assert.fail);
  store = new SqliteStore(join(directory, 'store.sqlite'), { pool, report: assert.fail, ...rowContext });
  context = masterContext(store);
  const { fields } = JSON.parse(readFileSync(new URL('../../template/tables/_IdempotencyKey.json', import.meta.url), 'utf8'));
  for (const [name, definition] of Object.entries({ _IdempotencyKey: fields, T: { A: { type: 'Number' } } }))
    await store.write({
      plan: (schema) => ({ changes: planTable(schema, name, { fields: definition }, () => {}), mutations: [] }),
    });
});
after(async () => {
  await store.close();
  await pool.close();
  rmSync(directory, { recursive: true });
});

const named = { caller: 'master', credential: 'secret', method: 'POST', url: '/x', body: { A: 1 } };
const newKey = (): Promise<RequestKey> => requestKey({ kind: 'key', text: newObjectId() }, named);

/** Keeps a key as of a time. */
const keepAt = (key: RequestKey, createdAt: number, values: Record<string, string>) =>
  store.write({
    plan(schema) {
      const table = tableOf(schema, '_IdempotencyKey');
      const row = { objectId: key.id, createdAt, updatedAt: createdAt, fingerprint: key.fingerprint, ...values };
      return { changes: [], mutations: [{ kind: 'insert', table, values: columnsOf(table, row) }] };
    },
  });

test('keys: 1 to 255 visible characters; an Idempotency-Key takes precedence', () => {
  assert.equal(sentKey({}), undefined);
  assert.deepEqual(sentKey({ 'idempotency-key': 'a', 'x-platform-request-id': 'b' }), { kind: 'key', text: 'a' });
  assert.deepEqual(sentKey({ 'x-platform-request-id': 'b' }), { kind: 'requestId', text: 'b' });
  for (const bad of ['', ' ', 'a b', 'x'.repeat(256), 'a\u00e9', ['a', 'b']])
    assert.throws(() => sentKey({ 'idempotency-key': bad }), { code: 107 });
});

test('the key of a request depends on caller and key, its fingerprint on method, address and body', async () => {
  const sent = { kind: 'key', text: 'k' } as const;
  const key = await requestKey(sent, named);
  assert.deepEqual(await requestKey(sent, structuredClone(named)), key);
  assert.notEqual((await requestKey(sent, { ...named, caller: 'key a' })).id, key.id);
  assert.notEqual((await requestKey({ ...sent, kind: 'requestId' }, named)).id, key.id);
  for (const other of [
    { method: 'PUT' },
    { url: '/x?a=1' },
    { body: undefined },
    { body: { A: '1' } },
    { body: { A: [1] } },
    { body: { A: [[1]] } },
    { body: [1] },
  ])
    assert.notEqual((await requestKey(sent, { ...named, ...other })).fingerprint, key.fingerprint, JSON.stringify(other));
});

test('a secret is sealed by what the store does not have', async () => {
  const key = await newKey();
  const sealed = seal(key, 'r:token');
  assert.doesNotMatch(Buffer.from(sealed, 'base64url').toString('latin1'), /token/);
  assert.equal(unseal(key, sealed), 'r:token');
  assert.equal(unseal({ ...key, secret: 'other' }, sealed), null);
  assert.equal(unseal(key, `${sealed.slice(0, -2)}AA`), null);
  assert.equal(unseal(key, 'x'), null);
});

test('a request is executed once; a row of more than a day counts as absent', async () => {
  const key = await newKey();
  const execute = async () => (await createRecord(keeping(context, key), 'T', { A: 1 })).objectId;
  const replay = async ({ record }: { record?: string }) => record ?? '';
  const first = await once(store, key, execute, replay);
  assert.deepEqual(await once(store, key, execute, replay), { answer: first.answer, isReplay: true });
  const old = await newKey();
  await keepAt(old, Date.now() - DAY_MS - 1_000, { record: 'old' });
  const again = async () => (await createRecord(keeping(context, old), 'T', { A: 1 })).objectId;
  assert.equal((await once(store, old, again, replay)).isReplay, false);
  assert.notEqual((await readKey(store, old.id))?.record, 'old');
});

test('a request of several commits: interrupted by its process it is resumed, or in doubt', async () => {
  const request = { execute: async () => 'done', keptOf: (answer: string) => ({ answer }), hasWritten: () => true };
  const replay = async ({ answer = '' }) => answer;
  for (const isResumable of [true, false]) {
    const key = await newKey();
    await keepAt(key, Date.now(), { state: 'started', owner: 'a process that is gone' });
    const asked = { ...request, isResumable, replay };
    if (!isResumable) await assert.rejects(onceStepwise(store, key, asked), { key: 'outcomeUnknown' });
    else {
      assert.deepEqual(await onceStepwise(store, key, asked), { answer: 'done', isReplay: false });
      assert.deepEqual(await onceStepwise(store, key, asked), { answer: 'done', isReplay: true });
    }
  }
});

test('of a process that lives it is under way; what failed before it wrote is executed again', async () => {
  const replay = async ({ answer = '' }) => answer;
  const key = await newKey();
  let fails = true;
  const asked = {
    execute: async () => (fails ? fail('unavailable') : 'done'),
    keptOf: (answer: string) => ({ answer }),
    hasWritten: () => false,
    isResumable: false,
    replay,
  };
  await assert.rejects(onceStepwise(store, key, asked), { key: 'unavailable' });
  fails = false;
  let ended = () => {};
  const running = onceStepwise(store, key, {
    ...asked,
    execute: () => new Promise<string>((resolve) => (ended = () => resolve('done'))),
  });
  await assert.rejects(onceStepwise(store, key, asked), { key: 'requestUnderWay' });
  while ((await readKey(store, key.id)) === null) await new Promise((resolve) => setImmediate(resolve));
  ended();
  assert.equal((await running).isReplay, false);
});
