/** `_AdminLog` is read with the master key, and written by the service alone. Reference: system-tables.md#_adminlog. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { creates } from '../automation/effects.ts';
import { callTool, keyHeaders, masterHeaders } from '../support/mcp.ts';
import { assertRefused, type Json, path, unique } from '../support/records.ts';
import { type As, type CallOptions, sampledEngines } from '../support/service.ts';
import { denied, join, signUp } from '../support/users.ts';
import { useUnusedSystem } from '../systems/cli.ts';
import { actsOf } from './acts.ts';

const table = '_AdminLog';

for (const engine of sampledEngines())
  describe(`log of administrators is sealed (${engine})`, () => {
    const store = useUnusedSystem(engine);
    let admin: string;
    let id: string;
    let rows: Json[];

    before(async () => {
      const user = await signUp(store);
      await join(store, 'Admin', [user]);
      admin = user.token;
      rows = await actsOf(store);
      id = rows[0].objectId;
    });

    /** Requests that read, with the action that a refusal names. */
    const reads: [string, string, CallOptions, action: string][] = [
      ['GET', path(table), {}, 'find'],
      ['GET', path(table), { query: { count: 1, limit: 0 } }, 'find'],
      ['GET', path(table, 'ID'), {}, 'get'],
      [
        'GET',
        `/platform/classes-aggregate/${table}`,
        { query: { pipeline: [{ $group: { _id: '$act', n: { $sum: 1 } } }] } },
        'find',
      ],
      ['GET', `/platform/export/${table}`, { query: { format: 'ndjson' } }, 'find'],
    ];
    for (const [method, address, options, action] of reads)
      test(`${method} ${address} ${JSON.stringify(options)}: the master key reads, all others get 119`, async () => {
        const at = address.replace('ID', id);
        const { status, text } = await store.call(method, at, options);
        assert.deepEqual([status, text.length > 2], [200, true], text);
        assertRefused(await store.call(method, at, { ...options, as: 'apiKey' }), denied(action, table));
        assertRefused(await store.call(method, at, { ...options, session: admin }), denied(action, table));
        assertRefused(await store.call(method, at, { ...options, as: 'anonymous' }), denied(action, table));
      });

    const increment = { after: { __op: 'Increment', amount: 1 } };
    /** Requests that write; batches answer with the refusal of their item. */
    const writes: [string, string, CallOptions][] = [
      ['POST', path(table), { body: { act: 'schema', who: 'master' } }],
      ['PUT', path(table, 'ID'), { body: { who: 'nobody' } }],
      ['PUT', path(table, 'ID'), { body: increment }],
      ['PUT', path(table, 'ID'), { body: { NewField: 1 } }],
      ['PUT', path(table, 'ID'), { body: { members: { __op: 'AddRelation', objects: [] } } }],
      ['DELETE', path(table, 'ID'), {}],
      ['PUT', path(table), { query: { where: {}, expect: 1 }, body: { who: 'nobody' } }],
      ['PUT', path(table), { query: { where: {}, dryRun: true }, body: { who: 'nobody' } }],
      ['DELETE', path(table), { query: { where: { act: 'users' } } }],
      ['POST', `/platform/upsert/${table}`, { body: { matchOn: ['objectId'], records: [{ act: 'schema' }] } }],
      ['POST', `/platform/import/${table}`, { body: 'act\nschema\n', headers: { 'Content-Type': 'text/csv' } }],
      ['POST', `/platform/schemas/${table}`, { body: { fields: {} } }],
      ['PUT', `/platform/schemas/${table}`, { body: { fields: { New: { type: 'String' } } } }],
      ['PUT', `/platform/schemas/${table}`, { body: { fields: { who: { __op: 'Delete' } } } }],
      ['PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: { find: { '*': true } } } }],
      ['PUT', `/platform/schemas/${table}`, { body: { indexes: { byWho: { who: 1 } } } }],
      ['PUT', `/platform/schemas/${table}`, { body: { timeline: { displayFields: {}, index: {} } } }],
      ['DELETE', `/platform/schemas/${table}`, {}],
    ];
    for (const [method, address, options] of writes)
      for (const as of ['master', 'apiKey'] as As[])
        test(`${method} ${address} ${JSON.stringify(options)} by ${as}: 119`, async () => {
          assertRefused(await store.call(method, address.replace('ID', id), { ...options, as }), { code: 119 });
        });

    const items: [string, string, object][] = [
      ['POST', path(table), { act: 'schema' }],
      ['PUT', path(table, 'ID'), { who: 'nobody' }],
      ['DELETE', path(table, 'ID'), {}],
    ];
    for (const [method, address, body] of items)
      test(`batch and transaction: ${method} ${address}: 119`, async () => {
        const request = { method, path: address.replace('ID', id), body };
        const batch = await store.call('POST', '/platform/batch', { body: { requests: [request] } });
        assert.equal(batch.body[0].error.code, 119, batch.text);
        const whole = await store.call('POST', '/platform/batch', { body: { transaction: true, requests: [request] } });
        assert.equal(whole.body.code, 119, whole.text);
      });

    const tools: [string, () => object][] = [
      ['Create-Record', () => ({ table, record: { act: 'schema' } })],
      ['Create-Many', () => ({ table, records: [{ act: 'schema' }] })],
      ['Update-Record', () => ({ table, objectId: id, record: { who: 'nobody' } })],
      ['Update-Many', () => ({ table, updates: [{ objectId: id, record: { who: 'nobody' } }] })],
      ['Upsert-Record', () => ({ table, match: { act: 'users' }, record: { who: 'nobody' } })],
      ['Add-Fields', () => ({ className: table, fields: [{ name: 'New', type: 'String' }] })],
      ['Set-Table-Permissions', () => ({ className: table, permissions: { find: ['*'] } })],
    ];
    for (const [name, args] of tools)
      test(`agent tool ${name}: refused`, async () => {
        for (const headers of [keyHeaders(store.service()), masterHeaders(store.service())]) {
          const answer = await callTool(store.service(), headers, name, args());
          assert.ok(answer.isError, answer.text);
        }
      });

    test('triggers and schema as code: none writes it', async () => {
      const source = await store.table({ A: 'Number' });
      const fill = { Name: 'fill', table: source, events: ['create'], actions: [creates(table, { act: 'schema' })] };
      const made = await store.call('POST', path('_Trigger'), { as: 'apiKey', body: fill });
      if (made.status === 201) assert.equal((await store.post(source, { A: 1 })).status, 201);
      const { body: snapshot } = await store.call('GET', '/platform/schema/snapshot');
      const fields = { ...snapshot.tables[table].fields, New: { type: 'String' } };
      const other = { ...snapshot, tables: { ...snapshot.tables, [table]: { ...snapshot.tables[table], fields } } };
      const { body: diff } = await store.call('POST', '/platform/schema/diff', { body: { snapshot: other } });
      const body = { hash: diff.hash, snapshot: other, allowDestructive: true };
      assertRefused(await store.call('POST', '/platform/schema/apply', { body }), { code: 119 });
    });

    test('nothing of all this changed the log', async () => {
      const now = await actsOf(store);
      assert.deepEqual(now.slice(0, rows.length), rows);
      const acts = now.slice(rows.length).map(({ act }) => act);
      assert.deepEqual([...new Set(acts)].sort(), ['export', 'schema', 'triggers'], unique('of the tests themselves'));
    });
  });
