/**
 * `getlead` detects duplicates by the normalised form of the telephone number, which has a separate column. Every write of a number also writes that
 * form. No caller sees it: test/permissions/hidden.test.ts. Reference: functions.md#getlead.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { query } from '../../src/storage/postgres/testing/server.ts';
import type { Data } from '../support/data.ts';
import { type Json, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { filesBelow } from '../support/stored.ts';
import { signUp } from '../support/users.ts';
import { command } from '../systems/cli.ts';

const table = 'Accounts';
const statement = '"objectId", "_phone_key"';

/** Returns the stored column by objectId; `null` if it is empty. */
async function keysIn({ dataDir, database }: Data): Promise<Map<unknown, unknown>> {
  const rows = database ? await rowsOfDatabase(database.url) : await rowsOfFile(dataDir);
  return new Map(rows.map(({ objectId, _phone_key }) => [objectId, _phone_key]));
}

async function rowsOfDatabase(url: string): Promise<Json[]> {
  const places = "SELECT quote_ident(table_schema) AS s FROM information_schema.tables WHERE table_name = 't_Accounts'";
  const [place] = (await query(url, places)) as Json[];
  return query(url, `SELECT ${statement} FROM ${place.s}."t_Accounts"`) as Promise<Json[]>;
}

async function rowsOfFile(dataDir: string): Promise<Json[]> {
  const file = (await filesBelow(join(dataDir, 'systems'))).find(({ path }) => path.endsWith('records.sqlite'));
  const db = new DatabaseSync(file?.path ?? assert.fail(), { readOnly: true });
  const rows = db.prepare(`SELECT ${statement} FROM "t_Accounts"`).all();
  db.close();
  return rows;
}

/** Every stored form of a phone with the same digits, 972 counting as 0, gives the same key. Reference: functions.md#getlead. */
const forms: [PhoneNumber: string, key: string | null][] = [
  ['0501234567', '0501234567'],
  ['050-123-4567', '0501234567'],
  ['+972501234567', '0501234567'],
  ['972-50-1234567', '0501234567'],
  ['(050) 123.45.67 (home)', '0501234567'],
  ['+972-3-5551234', '035551234'],
  ['1-972-5', '19725'],
  ['972', '0'],
  ['not known', null],
  ['٠٥٠', null],
  ['', null],
  ['9'.repeat(1_000), '9'.repeat(1_000)],
  ['9'.repeat(1_001), null],
];

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const keyOf = async (id: string) => (await keysIn(store.service())).get(id);

    test('a number that is written brings its key', async () => {
      const bodies = forms.map(([PhoneNumber]) => ({ PhoneNumber }));
      const created = await Promise.all(bodies.map((body) => store.create(table, body)));
      const requests = bodies.map((body) => ({ method: 'POST', path: `/platform/classes/${table}`, body }));
      const batch = await store.call('POST', '/platform/batch', { body: { requests } });
      const empty = await store.create(table, { Name: 'x' });
      const changed = await Promise.all(
        bodies.map(async (body) => {
          const id = await store.create(table, { PhoneNumber: '123' });
          await store.update(table, id, body);
          return id;
        }),
      );
      const keys = await keysIn(store.service());
      for (const [at, [PhoneNumber, key]] of forms.entries()) {
        assert.equal(keys.get(created[at]), key, `POST ${PhoneNumber}`);
        assert.equal(keys.get(batch.body[at].success.objectId), key, `batch ${PhoneNumber}`);
        assert.equal(keys.get(changed[at]), key, `PUT ${PhoneNumber}`);
      }
      assert.equal(keys.get(empty), null);
    });

    test('a number that goes takes its key with it, and nothing else does', async () => {
      for (const body of [
        { PhoneNumber: null },
        { PhoneNumber: { __op: 'Delete' } },
        { PhoneNumber: '' },
        { PhoneNumber: 'x' },
      ]) {
        const id = await store.create(table, { PhoneNumber: '1' });
        await store.update(table, id, { Name: 'x' });
        await store.update(table, id, { PhoneNumber: { __op: 'SetOnInsert', amount: '2' } });
        assert.equal(await keyOf(id), '1');
        await store.update(table, id, body);
        assert.equal(await keyOf(id), null, JSON.stringify(body));
      }
      const id = await store.create(table, { PhoneNumber: { __op: 'SetOnInsert', amount: '972-1' } });
      assert.equal(await keyOf(id), '01');
      // A Number is stored as text.
      await store.update(table, id, { PhoneNumber: 9725 });
      assert.equal(await keyOf(id), '05');
    });

    test('a write that is refused changes no key', async () => {
      const id = await store.create(table, { PhoneNumber: '1' });
      assert.equal((await store.put(table, id, { PhoneNumber: '2', IsAccount: 'x' })).body.code, 111);
      assert.equal((await store.put(table, id, { PhoneNumber: true })).body.code, 111);
      assert.equal(await keyOf(id), '1');
    });

    test('writes at once leave the key of the number that stays', async () => {
      const id = await store.create(table, { PhoneNumber: '0' });
      await Promise.all(Array.from({ length: 20 }, (_, n) => store.update(table, id, { PhoneNumber: `972${n}` })));
      const { PhoneNumber } = await store.read(table, id);
      assert.equal(await keyOf(id), PhoneNumber.replace('972', '0'));
    });

    test('answers and schemas say nothing of it', async () => {
      const posted = await store.post(table, { PhoneNumber: '972-77' });
      const id = posted.body.objectId;
      const put = await store.put(table, id, { PhoneNumber: '972-78' });
      const schemas = await store.call('GET', '/platform/schemas', { query: { withDictionary: true } });
      const changed = await store.call('PUT', `/platform/schemas/${table}`, { body: { fields: { Nick: { type: 'String' } } } });
      const read = await store.get(table, id);
      const log = await store.call('GET', '/platform/classes/_RequestLog', { query: { limit: 1000 } });
      const labels = await store.call('GET', '/platform/classes/_Dictionary', { query: { limit: 10000 } });
      for (const { status, text } of [posted, put, schemas, changed, read, log, labels]) {
        assert.ok(status < 300, text);
        assert.doesNotMatch(text, /_phone_key|"078"/);
      }
    });

    test('Import: an imported number brings its key', async () => {
      const service = store.service();
      const file = join(service.dataDir, 'accounts.ndjson');
      const rows = forms.map(([PhoneNumber], at) => ({ objectId: `imported${at}`, PhoneNumber }));
      await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
      const { code } = await command(
        service,
        'import',
        '--system',
        service.appId,
        '--table',
        table,
        '--file',
        file,
        '--keep-times',
      );
      assert.equal(code, 0);
      const keys = await keysIn(service);
      for (const [at, [PhoneNumber, key]] of forms.entries()) assert.equal(keys.get(`imported${at}`), key, PhoneNumber);
    });
  });

for (const engine of engines)
  describe(`${engine}: accounts that a customer has created again`, () => {
    const store = useStore(engine);

    test('a field that is dropped takes the keys with it; the next number brings them back, for every writer', async () => {
      const { call } = store;
      const old = await store.create(table, { PhoneNumber: '1' });
      const drop = { fields: { PhoneNumber: { __op: 'Delete' } } };
      assert.equal((await call('PUT', `/platform/schemas/${table}`, { body: drop })).status, 200);
      await assert.rejects(keysIn(store.service()), /_phone_key/);

      const writers = { requiresAuthentication: true };
      const rules = { find: writers, get: writers, create: writers, update: writers };
      const change = { fields: { PhoneNumber: { type: 'String' } }, classLevelPermissions: rules };
      assert.equal((await call('PUT', `/platform/schemas/${table}`, { body: change })).status, 200);
      const user = await signUp(store);
      const options = { session: user.token };
      await store.update(table, old, { Name: 'x', PhoneNumber: null }, options);
      await assert.rejects(keysIn(store.service()), /_phone_key/, 'nothing to keep yet');
      assert.equal((await store.put(table, old, { Unheard: 'x' }, options)).body.code, 119, 'the caller may add no field');
      await store.update(table, old, { PhoneNumber: '972-2' }, options);
      const id = await store.create(table, { PhoneNumber: '972-3' }, options);
      const keys = await keysIn(store.service());
      assert.deepEqual([keys.get(old), keys.get(id)], ['02', '03']);
    });

    test('a table that is made by its first record', async () => {
      for (const { objectId } of await store.all(table)) assert.equal((await store.remove(table, objectId)).status, 200);
      assert.equal((await store.call('DELETE', `/platform/schemas/${table}`)).status, 200);
      assert.equal((await store.post(table, { _phone_key: 'x' })).body.code, 105);
      const body = { className: table, fields: { _phone_key: { type: 'String' } } };
      assert.equal((await store.call('POST', `/platform/schemas/${table}`, { body })).body.code, 105);
      const ids = await Promise.all(['972-1', '972-2', '3'].map((PhoneNumber) => store.create(table, { PhoneNumber })));
      const keys = await keysIn(store.service());
      assert.deepEqual(
        ids.map((id) => keys.get(id)),
        ['01', '02', '3'],
      );
      assert.equal((await store.fields(table))._phone_key, undefined);
      assert.equal((await store.post(table, { _phone_key: 'x' })).body.code, 119);
    });

    test('a number that is no text has no key', async () => {
      const drop = { fields: { PhoneNumber: { __op: 'Delete' } } };
      assert.equal((await store.call('PUT', `/platform/schemas/${table}`, { body: drop })).status, 200);
      const id = await store.create(table, { PhoneNumber: 9725 });
      await store.update(table, id, { PhoneNumber: { __op: 'Increment', amount: 1 } });
      assert.deepEqual(
        [(await store.read(table, id)).PhoneNumber, (await store.fields(table)).PhoneNumber.type],
        [9726, 'Number'],
      );
      await assert.rejects(keysIn(store.service()), /_phone_key/);
    });
  });
