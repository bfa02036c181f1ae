import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, jsonBytes } from '../../kernel/json.ts';
import type { SchemaRecord } from '../../schema/describe.ts';
import { isBlocked, tablesView, tableView } from './schema-view.ts';

const table = (className: string, count: number): SchemaRecord => ({
  className,
  fields: Object.fromEntries([
    ['objectId', { type: 'String' }],
    ...Array.from({ length: count }, (_, at) => [`f${at}`, { type: 'Pointer', targetClass: 'Tags', dictionary: 'label' }]),
  ]),
  classLevelPermissions: { find: { '*': true } },
});

test('tables come as fully as there is room', () => {
  const tables = ['A', 'B', 'C'].map((name) => table(name, 20));
  assert.deepEqual(tablesView(tables), { results: tables });
  const briefer = tablesView(tables, 4_400);
  assert.deepEqual((briefer.results as SchemaRecord[])[0]?.fields, table('A', 20).fields);
  const results = (view: JsonObject) => view.results as { className: string; fields: JsonObject }[];
  const without = tablesView(tables, jsonBytes({ results: tables }) - 100);
  assert.deepEqual(results(without)[0]?.fields.f0, { type: 'Pointer', targetClass: 'Tags', dictionary: 'label' });
  assert.equal(results(without)[0]?.fields.objectId, undefined);
  const cut = tablesView(tables, 3_200);
  assert.deepEqual([results(cut).map(({ className }) => className), cut.others, cut.truncated], [['A', 'B'], ['C'], true]);
  assert.deepEqual(results(cut)[1]?.fields.f0, { type: 'Pointer', targetClass: 'Tags', dictionary: 'label' });
  assert.ok(jsonBytes({ results: cut.results as never, others: cut.others as never }) < 3_300);
});

test('one table comes whole, or without the actions of its triggers, or with as many fields as fit', () => {
  const plain = table('A', 3);
  assert.equal(tableView(plain), plain);
  const long = { ...plain, triggers: [{ _id: 't', Name: 'n', events: ['create'], Active: true, actions: ['x'.repeat(2_000)] }] };
  assert.deepEqual(tableView(long, 1_000).triggers, [{ _id: 't', Name: 'n', events: ['create'], Active: true }]);
  const wide = tableView({ ...table('A', 50), triggers: [] }, 2_000);
  const shown = Object.keys(wide.fields as JsonObject);
  assert.deepEqual((wide.fields as JsonObject).f0, { type: 'Pointer', targetClass: 'Tags', dictionary: 'label' });
  assert.deepEqual([wide.truncated, shown.length + (wide.others as string[]).length], [true, 50]);
  assert.ok(shown.length > 10 && jsonBytes(wide) < 2_300);
});

test('blocked tables', () => {
  const names = ['Config', '_Role', '_Session', 'SMTP', '_Smtp', 'SmtpSettings', '_User', 'Accounts', 'EmailAccounts'];
  assert.deepEqual(
    names.filter((name) => !isBlocked(name)),
    ['_User', 'Accounts', 'EmailAccounts'],
  );
});
