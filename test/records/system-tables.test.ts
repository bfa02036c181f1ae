import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, mismatch, unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);

    for (const value of [true, false])
      test(`Config: a bare boolean Value is rejected at write time with code 111 (${value})`, async () => {
        const Name = unique('Flag');
        assertRefused(await store.post('Config', { Name, Value: value }), mismatch('Config', 'Value', 'Object', 'Boolean'));
        const id = await store.create('Config', { Name, Value: { [Name]: true } });
        assertRefused(await store.put('Config', id, { Value: value }), mismatch('Config', 'Value', 'Object', 'Boolean'));
        assert.deepEqual((await store.read('Config', id)).Value, { [Name]: true });
      });

    for (const [got, value] of [
      ['String', 'true'],
      ['Number', 1],
      ['Array', [true]],
    ] as const)
      test(`Config: a ${got} as Value is 111`, async () => {
        assertRefused(
          await store.post('Config', { Name: unique('Flag'), Value: value }),
          mismatch('Config', 'Value', 'Object', got),
        );
      });

    test('Config: Name (String) and Value (Object) are there in a new system', async () => {
      const fields = await store.fields('Config');
      assert.deepEqual([fields.Name.type, fields.Value.type], ['String', 'Object']);
    });

    test('Config: several rows may share a Name; they are listed in the order of creation', async () => {
      const Name = unique('Flag');
      const first = await store.create('Config', { Name, Value: { [Name]: true } });
      const second = await store.create('Config', { Name, Value: { [Name]: false } });
      const { body } = await store.call('GET', '/platform/classes/Config', { query: { where: { Name } } });
      assert.deepEqual(
        body.results.map(({ objectId }: { objectId: string }) => objectId),
        [first, second],
      );
    });

    test('Authentication: the API key reads and writes Config', async () => {
      const Name = unique('Flag');
      const id = await store.create('Config', { Name, Value: { [Name]: true } }, { as: 'apiKey' });
      assert.equal((await store.get('Config', id, { as: 'apiKey' })).body.Name, Name);
    });

    for (const table of ['_User', '_Role', '_Session', 'Config', '_Dictionary'])
      test(`Other system tables: ${table} is there in a new system and is read with the master key`, async () => {
        assert.ok(await store.fields(table));
        assert.ok(Array.isArray(await store.all(table)));
      });

    test('_Dictionary: tblName, field, value (label of a field)', async () => {
      const row = { tblName: 'Accounts', field: unique('F'), value: 'שם' };
      const record = await store.read('_Dictionary', await store.create('_Dictionary', row));
      assert.deepEqual({ tblName: record.tblName, field: record.field, value: record.value }, row);
    });

    test('_syslogTriggers: accepts POST and PUT but rejects DELETE: Action is denied for system tables', async () => {
      const id = await store.create('_syslogTriggers', { event: 'create' });
      await store.update('_syslogTriggers', id, { event: 'update' });
      for (const as of ['master', 'apiKey'] as const) {
        const answer = await store.remove('_syslogTriggers', id, { as });
        assertRefused(answer, { code: 119, error: 'Action is denied for system tables' });
      }
      assert.equal((await store.read('_syslogTriggers', id)).event, 'update');
    });

    for (const table of ['_syslogSMS', '_syslogCampaignSMS', '_syslogCampaignWA', '_syslogCampaignEmails'])
      test(`${table} rejects DELETE as _syslogTriggers does`, async () => {
        const id = await store.create(table, { status: 'sent' });
        assertRefused(await store.remove(table, id), { code: 119, error: 'Action is denied for system tables' });
        assert.equal((await store.read(table, id)).status, 'sent');
      });

    test('Authentication: anonymous read of Config is 404 code 101 or 400 code 119', async () => {
      const answer = await store.call('GET', '/platform/classes/Config', { as: 'anonymous' });
      assertRefused(answer, { code: [101, 119] });
    });

    test('Authentication: anonymous write of Config meets the CAPTCHA text', async () => {
      const answer = await store.post('Config', { Name: 'x', Value: { x: true } }, { as: 'anonymous' });
      assertRefused(answer, { code: 119, error: 'This action is not allowed without a valid CAPTCHA' });
    });
  });
