/** A committed write is answered as a success, even if the full answer would exceed the limit. Reference: agents.md#answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, unique } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { onEachEngine } from '../engines.ts';

const many = (count: number, sign: string) => Array.from({ length: count }, (_, at) => `${sign}${at}`);

onEachEngine('answers of writes that would be too long', ({ use, table, all, create, read }) => {
  test('Upsert-Record, Update-Record: what operators made of a long list is left out', async () => {
    const name = await table({ Name: 'String', a: 'Array' });
    const objectId = await create(name, { Name: 'x' });
    const add = (sign: string) => ({ __op: 'Add', objects: many(20_000, sign) });
    const upserted = await use('Upsert-Record', { table: name, matchOn: ['Name'], data: { Name: 'x', a: add('v') } });
    assert.deepEqual(Object.keys(upserted), ['created', 'updatedAt', 'objectId', 'truncated']);
    assert.deepEqual([upserted.created, upserted.objectId, upserted.truncated], [false, objectId, true]);
    const updated = await use('Update-Record', { table: name, objectId, data: { a: add('w') } });
    assert.deepEqual([updated.objectId, updated.truncated], [objectId, true]);
    const short = await use('Upsert-Record', {
      table: name,
      matchOn: ['Name'],
      data: { Name: 'x', n: { __op: 'Increment', amount: 2 } },
    });
    assert.deepEqual([short.n, short.truncated], [2, undefined]);
    const stored = await read(name, objectId);
    assert.deepEqual([stored.a.length, stored.updatedAt], [40_000, short.updatedAt]);
  });

  test('Create-Price-Quote: rows without their texts', async () => {
    const accountId = await create('Accounts', { Name: 'x' });
    const productId = await create('Products', { Name: 'נ'.repeat(2_000), Price: 5 });
    const described = { description: 'ת'.repeat(9_000), price: 1, quantity: 1 };
    for (const row of [{ productId }, described]) {
      const answer = await use('Create-Price-Quote', { accountId, rows: Array.from({ length: 200 }, () => row) });
      assert.ok(bytesOf(answer) <= MAX_BYTES);
      assert.equal(answer.truncated, true);
      assert.equal((await read('PriceQuotes', answer.objectId)).objectId, answer.objectId);
      const ids = new Set((await all('SaleRows')).map(({ objectId }) => objectId));
      assert.deepEqual([answer.rows.length, answer.rows.every((one: Json) => ids.has(one.objectId))], [200, true]);
      assert.deepEqual(
        [answer.rows[199].price, answer.rows[199].product, answer.total > 0],
        [row === described ? 1 : 5, undefined, true],
      );
    }
    const [row] = (await use('Create-Price-Quote', { accountId, rows: [{ productId }] })).rows;
    assert.equal(row.product, `${'נ'.repeat(200)}…`);
  });

  test('Set-Config-Flag: values are reported with the beginnings of long texts', async () => {
    const name = unique('Big');
    const value = { [name]: true, x: 'y'.repeat(1_000_000) };
    const made = await use('Set-Config-Flag', { name, value });
    assert.deepEqual([made.name, made.before, made.value[name]], [name, null, true]);
    assert.match(made.value.x, /^y{1000}… \(1000000 characters\)$/);
    const changed = await use('Set-Config-Flag', { name, value: { z: 1 } });
    assert.deepEqual([changed.objectId, changed.value.z, changed.before[name]], [made.objectId, 1, true]);
    const wide = Object.fromEntries(many(9_000, 'key').map((key) => [key, 'v'.repeat(20)]));
    assert.deepEqual([(await use('Set-Config-Flag', { name, value: wide })).objectId], [made.objectId]);
    const stored = (await read('Config', made.objectId)).Value;
    assert.deepEqual([stored.x.length, stored.z, stored.key8999], [1_000_000, 1, 'v'.repeat(20)]);
    const dry = await use('Set-Config-Flag', { name, value: { w: 1 }, dryRun: true });
    assert.deepEqual([dry.dryRun, dry.truncated, dry.hint], [true, true, undefined]);
  });
});
