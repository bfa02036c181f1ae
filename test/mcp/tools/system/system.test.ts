/** Reference: tools.md#get-system-info, tools.md#get-config-flags, tools.md#set-config-flag, system-tables.md#config. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, unique } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey, byUser, openAdvanced } from '../callers.ts';
import { useRestored } from '../restored.ts';
import { useSecondStore } from '../second.ts';

for (const engine of sampledEngines())
  describe(`Get-System-Info, Get-Config-Flags, Set-Config-Flag on ${engine}`, () => {
    const store = useSecondStore(engine);
    useRestored(store, 'Config');
    const tools = byKey(store);
    const rowsOf = async (name: string): Promise<Json[]> => (await store.all('Config')).filter(({ Name }) => Name === name);

    test('what the system is', async () => {
      const { results } = (await store.call('GET', '/platform/schemas')).body;
      const info = await tools.use('Get-System-Info');
      const { url, appId } = store.service();
      assert.deepEqual(
        [info.appId, info.name, info.timeZone, info.classCount, info.outOfStorage, info.address],
        [appId, appId, 'UTC', results.length, false, url],
      );
      assert.match(info.version, /^\d+\.\d+\.\d+/);
      assert.deepEqual(info.features, { signIn: true, advancedTools: false, largeUploads: false });
      assert.equal(info.limits.uploadBytes, 33_554_432);
      assert.ok(!/quota|remaining/i.test(JSON.stringify(info)));
      await tools.use('Set-Config-Flag', { name: 'TimeZone', value: { TimeZone: 'Asia/Jerusalem' } });
      await tools.use('Set-Config-Flag', { name: 'allowAllFiles', value: { allowAllFiles: true } });
      const after = await tools.use('Get-System-Info');
      assert.deepEqual([after.timeZone, after.features.largeUploads], ['Asia/Jerusalem', true]);
      const seller = await byUser(store, ['Sales'], ['mcp:view']);
      assert.ok((await seller.use('Get-System-Info')).classCount < results.length);
    });

    test('flags with what they do; of several rows the first counts', async () => {
      const { results, withoutRow } = await tools.use('Get-Config-Flags');
      const leads = results.find(({ name }: Json) => name === 'AcceptWebLeads');
      assert.equal(leads.value.AcceptWebLeads, true);
      assert.match(leads.what, /getlead/);
      const absent = withoutRow.map(({ name }: Json) => name);
      assert.ok(absent.includes('McpSignIn') && absent.includes('AcceptWebToTable') && !absent.includes('AcceptWebLeads'));
      const name = unique('Flag');
      const first = await store.create('Config', { Name: name, Value: { [name]: 1 } });
      await store.create('Config', { Name: name, Value: { [name]: 2 } });
      assert.deepEqual((await tools.use('Get-Config-Flags', { name })).results, [
        { name, value: { [name]: 1 }, objectId: first },
      ]);
      assert.match((await tools.use('Get-Config-Flags', { name: 'None' })).hint, /no flag None/);
      await store.create('Config', { Name: name, Value: { old: true } });
      const set = await tools.use('Set-Config-Flag', { name, value: { more: 3 } });
      assert.deepEqual([set.objectId, (await rowsOf(name))[0].Value], [first, { [name]: 1, more: 3 }], 'old rows count no more');
    });

    test('a flag is set: keys that are not sent stay, a missing row is made', async () => {
      const before = (await rowsOf('AcceptWebLeads'))[0];
      const defaults = { Account: { City: 'Haifa' } };
      const answer = await tools.use('Set-Config-Flag', { name: 'AcceptWebLeads', value: { DefaultValues: defaults } });
      assert.deepEqual(answer.before, before.Value);
      assert.deepEqual(answer.value, { ...before.Value, DefaultValues: defaults });
      assert.deepEqual(await rowsOf('AcceptWebLeads').then((rows) => rows.map(({ objectId, Value }) => [objectId, Value])), [
        [before.objectId, answer.value],
      ]);
      const value = { AcceptWebToTable: true };
      const dry = await tools.use('Set-Config-Flag', { name: 'AcceptWebToTable', value, dryRun: true });
      assert.deepEqual(
        [dry, await rowsOf('AcceptWebToTable')],
        [{ dryRun: true, name: 'AcceptWebToTable', before: null, value }, []],
      );
      await tools.use('Set-Config-Flag', { name: 'AcceptWebToTable', value });
      assert.deepEqual(
        (await rowsOf('AcceptWebToTable')).map(({ Value }) => Value),
        [value],
      );
      const table = await store.table({ Name: 'String' });
      const { url, appId } = store.service();
      const form = { method: 'POST', body: JSON.stringify({ table, phone: '0501234567', table_Name: 'x' }) };
      assert.equal((await fetch(`${url}/functions/${appId}/web2table`, form)).status, 200, 'the flag counts at once');
    });

    test('keys that are set at the same time all stay, of a new flag too', async () => {
      const name = unique('Race');
      const set = (key: string) => tools.use('Set-Config-Flag', { name, value: { [name]: true, [key]: key } });
      const keys = Array.from({ length: 8 }, (_, at) => `k${at}`);
      const answers = await Promise.all(keys.map(set));
      const rows = await rowsOf(name);
      assert.deepEqual([new Set(answers.map(({ objectId }) => objectId)).size, rows.length], [1, 1]);
      assert.deepEqual(rows[0].Value, { [name]: true, ...Object.fromEntries(keys.map((key) => [key, key])) });
    });

    test('values that a flag does not take', async () => {
      const snapshot = await store.snapshot('Config');
      const cases: [object, number, RegExp][] = [
        [{ name: 'AcceptWebToCaseLeads', value: { AcceptWebToCaseLeads: 'yes' } }, 107, /true or false/],
        [{ name: 'TimeZone', value: { TimeZone: 'Haifa' } }, 107, /Asia\/Jerusalem/],
        [{ name: 'Payment', value: { Payment: true } }, 107, /an object/],
        [{ name: 'Own', value: { other: 1 } }, 107, /no key Own/],
        [{ name: 'Own', value: {} }, 107, /must not be empty/],
        [{ name: 'Own', value: { Own: 1, 'a.b': 1 } }, 121, /a\.b/],
        [{ name: 'Own', value: { Own: 1, $x: 1 } }, 121, /\$x/],
        [{ name: 'Own', value: true }, 107, /must be an object/],
        [{ name: 'Own' }, 107, /value/],
      ];
      for (const dryRun of [true, false])
        for (const [args, code, text] of cases) await tools.refused('Set-Config-Flag', { ...args, dryRun }, code, text);
      assert.equal(await store.snapshot('Config'), snapshot);
    });

    test('who signed in', async (t) => {
      const seller = await byUser(store, ['Sales']);
      await seller.refused('Get-Config-Flags', {}, 119, /^Permission denied for action find on class Config .*role Admin/);
      const admin = await byUser(store, ['Admin']);
      await admin.refused('Set-Config-Flag', { name: 'McpAdvancedTools', value: { McpAdvancedTools: true } }, 119);
      await openAdvanced(t, store);
      const { objectId } = await admin.use('Set-Config-Flag', {
        name: 'AcceptWebToSaleLeads',
        value: { AcceptWebToSaleLeads: true },
      });
      assert.equal((await store.read('Config', objectId)).createdBy.objectId, admin.id);
      assert.equal((await admin.use('Get-System-Info')).features.advancedTools, true);
      const before = (await store.call('GET', '/platform/schemas/Config')).body.classLevelPermissions;
      const rules = { find: { 'role:Admin': true }, get: { 'role:Admin': true } };
      await store.call('PUT', '/platform/schemas/Config', { body: { classLevelPermissions: rules } });
      assert.ok((await admin.use('Get-Config-Flags')).results.length > 2);
      const off = { name: 'AcceptWebToSaleLeads', value: { AcceptWebToSaleLeads: false } };
      await admin.refused('Set-Config-Flag', off, 119, /^Permission denied for action update on class Config/);
      const closing = { name: 'McpSignIn', value: { McpSignIn: false } };
      assert.equal((await tools.use('Set-Config-Flag', { ...closing, dryRun: true })).warnings, undefined);
      await store.call('PUT', '/platform/schemas/Config', { body: { classLevelPermissions: before } });
      const { warnings } = await admin.use('Set-Config-Flag', { ...closing, dryRun: true });
      assert.match(warnings[0], /this connection/, 'the caller ends its own access');
      await admin.use('Set-Config-Flag', closing);
      await admin.refused('Get-System-Info', {}, 119, /McpSignIn/);
    });
  });
