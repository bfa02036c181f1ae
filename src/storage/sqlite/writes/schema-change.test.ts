import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInDoubt, isUnavailable } from '../../../errors/fail.ts';
import type { SchemaChange } from '../../../schema/change.ts';
import { ConditionFailed, type Mutation } from '../../port.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { Connection } from '../connection/connection.ts';
import { LongEdit } from '../sql/functions.ts';
import { TestTables } from '../testing/tables.ts';
import { executeOnThread, hasLongValues, isLongSchemaChange } from './schema-change.ts';

/** What a thread does instead of a schema change. */
const thread = (code: string) =>
  executeOnThread(
    { path: '', plan: { changes: [], mutations: [] }, catalogVersion: 0, addresses: rowContext.addresses() },
    new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads'; ${code}`)}`,
    ),
  );
const says = (answer: object | string) => `parentPort.postMessage(${JSON.stringify(answer)});`;
const committing = 'Atomics.store(workerData.isCommitting, 0, 1);';

test('a thread answers with the outcome, or with why there is none', async () => {
  assert.deepEqual(await thread(committing + says({ outcome: { returned: '' } })), { returned: '' });
  await assert.rejects(thread(says('overtaken')), ConditionFailed);
  const full = { key: 'unavailable', text: 'x', cause: { text: 'database or disk is full', errcode: 13 } };
  await assert.rejects(thread(says(full)), isUnavailable);
});

test('one that ends in its COMMIT leaves it open whether the change was carried out', async () => {
  await assert.rejects(thread(`${committing} throw new Error('x');`), isInDoubt);
  await assert.rejects(thread(`${committing} process.exit(1);`), isInDoubt);
});

test('one that ends before has changed nothing: for lack of something, or as a fault of ours', async () => {
  await assert.rejects(thread(`throw Object.assign(new Error('x'), { code: 'EMFILE' });`), isUnavailable);
  await assert.rejects(thread(`throw Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });`), isUnavailable);
  await assert.rejects(thread(`throw new TypeError('x');`), TypeError);
});

test('values of some megabytes in all are for the thread', () => {
  const tables = new TestTables();
  tables.define('Texts', { s: 'String' });
  const insert = (chars: number): Mutation => ({
    ...({ kind: 'insert', table: tables.table('Texts'), values: [[tables.field('Texts', 's'), 'x'.repeat(chars)]] } as const),
  });
  const isLong = (...mutations: Mutation[]) => hasLongValues({ changes: [], mutations });
  assert.equal(isLong(insert(1_500_000)), false);
  assert.equal(isLong(insert(3_000_000)), true);
  assert.equal(isLong(insert(1_500_000), insert(1_500_000)), true);
});

test('operators on a long Array are refused where the event loop would carry them out', () => {
  const connection = new Connection(':memory:', 'write', { maxEditChars: () => 100 });
  const edit = (list: string) => connection.first({ text: `SELECT rds_edit(?, ?, 'Array', 'T.list')`, params: [list, '[]'] });
  assert.deepEqual(edit('[1]'), ['[1]']);
  assert.throws(() => edit(JSON.stringify(Array.from({ length: 100 }, () => 1))), LongEdit);
  connection.close();
});

test('what reads or copies many records, many bytes, or the same often, is for the thread', () => {
  const tables = new TestTables();
  const names = Array.from({ length: 60 }, (_, n) => `f${n}`);
  const fields = { s: 'String', n: 'Number', many: 'Relation:Few', ...Object.fromEntries(names.map((name) => [name, 'String'])) };
  for (const className of ['Few', 'Long', 'Some']) tables.define(className, fields);
  tables.insert('Few', { objectId: 'a', s: 'x', n: 1 });
  for (let n = 0; n < 20; n++) tables.insert('Long', { objectId: `a${n}`, s: `${n}${'x'.repeat(200_000)}`, n });
  for (let n = 0; n < 300; n++) tables.insert('Some', { objectId: `a${n}`, s: 'x', n });
  const isLong = (...changes: SchemaChange[]) => isLongSchemaChange(tables.connection, { changes, mutations: [] }, tables.schema);
  const unique = (className: string, field: string): SchemaChange => ({
    ...({ kind: 'setUniqueIndex', className, index: { name: field, fields: [field] } } as const),
  });
  const retype = (className: string, name: string): SchemaChange => ({
    ...({ kind: 'retypeField', className, name, type: 'Array', onError: 'refuse' } as const),
  });
  const index = (className: string, name: string): SchemaChange => ({
    ...({ kind: 'setIndex', className, index: { name, keys: [[name, 1]] } } as const),
  });
  const demand = (className: string, name: string): SchemaChange => ({
    ...({ kind: 'setFieldOptions', className, name, options: { required: true } } as const),
  });
  const rename = (className: string, name: string, to: string): SchemaChange => ({ kind: 'renameField', className, name, to });
  for (const className of ['Few', 'Some'])
    for (const change of [unique, retype, index, demand])
      assert.equal(isLong(change(className, 's')), false, `${className} ${change(className, 's').kind}`);
  assert.equal(isLong(unique('Long', 's')), true);
  assert.equal(isLong(rename('Long', 's', 't'), unique('Long', 't')), true);
  assert.equal(isLong(unique('Long', 'n')), false);
  assert.equal(isLong(retype('Long', 'n')), true);
  assert.equal(isLong(demand('Long', 's')), false);
  assert.equal(isLong({ kind: 'dropField', className: 'Long', name: 'n' }), true);
  assert.equal(isLong(rename('Long', 's', 't')), false);
  for (const change of [index, demand])
    assert.equal(isLong(...names.map((name) => change('Some', name))), true, change('Some', 's').kind);
  assert.equal(isLong(retype('Some', 's'), retype('Some', 'n')), true);
  assert.equal(isLong(...names.map((name) => index('Few', name))), false);
});
