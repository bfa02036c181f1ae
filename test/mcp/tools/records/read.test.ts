/** Reference: tools.md#get-data, tools.md#get-record, tools.md#count-data. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer, unique } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { onEachEngine } from '../engines.ts';

onEachEngine('reading records', ({ use, refused, table, create, call }) => {
  let name: string;
  const ids: string[] = [];
  before(async () => {
    name = await table({ Name: 'String', n: 'Number', when: 'Date', AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
    for (let n = 0; n < 8; n++) ids.push(await create(name, { Name: `r${n}`, n, when: date(`2026-01-0${n + 1}T00:00:00.000Z`) }));
  });
  const names = ({ results }: Json) => results.map((row: Json) => row.Name);

  test('Get-Data answers 5 records unless limit says otherwise, and where to go on', async () => {
    const first = await use('Get-Data', { table: name, order: 'n' });
    assert.deepEqual(names(first), ['r0', 'r1', 'r2', 'r3', 'r4']);
    assert.equal(first.nextSkip, 5);
    const rest = await use('Get-Data', { table: name, order: 'n', skip: first.nextSkip });
    assert.deepEqual([names(rest), rest.nextSkip], [['r5', 'r6', 'r7'], undefined]);
    assert.deepEqual(await use('Get-Data', { table: name, limit: 0 }), { results: [] });
  });

  test('Get-Data: keys, order, where; several keys of where must all hold', async () => {
    const where = { n: { $gte: 2 }, when: { $lt: date('2026-01-06T00:00:00.000Z') } };
    const found = await use('Get-Data', { table: name, where, order: '-n', keys: ['Name'] });
    assert.deepEqual(names(found), ['r4', 'r3', 'r2']);
    assert.equal(found.results[0].n, undefined);
    assert.equal(found.results[0].objectId, ids[4]);
    assert.deepEqual(names(await use('Get-Data', { table: name, where: JSON.stringify({ Name: 'r7' }) })), ['r7']);
  });

  test('Get-Data by objectId, together with where', async () => {
    assert.deepEqual(names(await use('Get-Data', { table: name, objectId: ids[3] })), ['r3']);
    assert.deepEqual(names(await use('Get-Data', { table: name, objectId: ids[3], where: { n: 3 } })), ['r3']);
    assert.deepEqual(names(await use('Get-Data', { table: name, objectId: ids[3], where: { n: 4 } })), []);
    const both = { objectId: ids[4] };
    assert.deepEqual(names(await use('Get-Data', { table: name, objectId: ids[3], where: both })), []);
  });

  test('Get-Data reads any table under a key, the logs too', async () => {
    const { results } = await use('Get-Data', { table: 'Config', where: { Name: 'AcceptWebLeads' } });
    assert.equal(results[0].Value.AcceptWebLeads, true);
    await use('Get-Data', { table: '_RequestLog' });
    const users = await use('Get-Data', { table: '_User' });
    assert.equal(users.results[0].password, undefined);
  });

  test('a table that there is not has no records, and a hint says so', async () => {
    const missing = unique('Nope');
    for (const tool of ['Get-Data', 'Count-Data', 'Aggregate-Data']) {
      const answer = await use(tool, { table: missing });
      assert.ok(answer.count === 0 || answer.results.length === 0);
      assert.match(answer.hint, new RegExp(`no table ${missing}`));
    }
  });

  test('Get-Data: wrong arguments', async () => {
    const bad = (args: object, words: RegExp) => refused('Get-Data', args, 107, words);
    await bad({}, /table is required/);
    await bad({ table: '' }, /table must not be empty/);
    await bad({ table: name, limit: 2001 }, /limit must be at most 2000/);
    await bad({ table: name, limit: -1 }, /limit must not be negative/);
    await bad({ table: name, limit: 1.5 }, /limit must be a whole number/);
    await bad({ table: name, objectId: 'short' }, /objectId must have exactly 10 characters/);
    await bad({ table: name, where: 'x' }, /where must be an object/);
    await bad({ table: name, where: [] }, /where must be an object/);
    await bad({ table: name, distinct: 'n' }, /distinct is unknown/);
    await refused('Get-Data', { table: name, where: { n: { $near: 1 } } }, 102, /near/);
    // Of several faults, the first that REST would report.
    await refused('Get-Data', { table: name, where: { n: { $near: 1 } }, order: 'n,'.repeat(2_500) }, 102, /near/);
    await refused('Get-Data', { table: name, order: 'n,'.repeat(2_500) }, 102, /parameter order/);
    await refused('Get-Data', { table: '_StoredFile' }, 119, /^Permission denied for action find on class _StoredFile/);
  });

  test('Get-Data: an answer that would be too long ends early and says where', async () => {
    const long = await table({ text: 'String' });
    for (let n = 0; n < 4; n++) await create(long, { text: 'א'.repeat(10_000) });
    const answer = await use('Get-Data', { table: long, limit: 4 });
    assert.ok(bytesOf(answer) <= MAX_BYTES);
    assert.deepEqual([answer.results.length, answer.truncated, answer.nextSkip], [2, true, 2]);
    const rest = await use('Get-Data', { table: long, limit: 4, skip: 2 });
    assert.deepEqual([rest.results.length, rest.truncated], [2, undefined]);
  });

  test('Get-Data: a record that is larger than an answer is passed over, and reported', async () => {
    const long = await table({ n: 'Number', text: 'String' });
    for (const [n, size] of [1, 70_000, 1].entries()) await create(long, { n, text: 'x'.repeat(size) });
    const page = (skip: number) => use('Get-Data', { table: long, order: 'n', limit: 3, skip });
    const first = await page(0);
    assert.deepEqual([first.results.length, first.truncated, first.nextSkip], [1, true, 1]);
    const none = await page(first.nextSkip);
    assert.deepEqual([none.results.length, none.truncated, none.nextSkip], [0, true, 2]);
    assert.match(none.hint, /^The record \w{10} alone is larger than an answer: name the keys/);
    const rest = await page(none.nextSkip);
    assert.deepEqual([rest.results[0].n, rest.truncated, rest.nextSkip], [2, undefined, undefined]);
  });

  test('Count-Data', async () => {
    assert.deepEqual(await use('Count-Data', { table: name }), { count: 8 });
    assert.deepEqual(await use('Count-Data', { table: name, where: { n: { $gt: 5 } } }), { count: 2 });
    await refused('Count-Data', { table: name, where: { n: { $x: 5 } } }, 102, /\$x/);
    await refused('Count-Data', { table: name, limit: 5 }, 107, /limit is unknown/);
  });

  test('Get-Record: linked records come as Pointers with their names', async () => {
    const account = await create('Accounts', { Name: 'Dana', PhoneNumber: '0501234567' });
    const tags = [await create('Tags', { Name: 'vip' }), 'gone000000'];
    const list = tags.map((id) => pointer('Tags', id));
    const id = await create(name, { Name: 'linked', AccountId: pointer('Accounts', account), array_tags_Pointer_Tags: list });
    const row = await use('Get-Record', { table: name, objectId: id });
    assert.deepEqual(row.AccountId, { ...pointer('Accounts', account), Name: 'Dana' });
    assert.deepEqual(row.array_tags_Pointer_Tags, [{ ...list[0], Name: 'vip' }, list[1]]);
    // The answered form can be sent back.
    const sentBack = { AccountId: row.AccountId, array_tags_Pointer_Tags: row.array_tags_Pointer_Tags };
    await use('Update-Record', { table: name, objectId: id, data: { AccountId: sentBack.AccountId } });
    assert.deepEqual((await call('GET', `/platform/classes/${name}/${id}`)).body.AccountId, pointer('Accounts', account));
    const whole = await use('Get-Record', { table: name, objectId: id, include: ['AccountId'] });
    assert.equal(whole.AccountId.PhoneNumber, '0501234567');
    assert.deepEqual(whole.array_tags_Pointer_Tags, list);
    const bare = await use('Get-Record', { table: name, objectId: id, include: [] });
    assert.deepEqual(bare.AccountId, pointer('Accounts', account));
    const some = await use('Get-Record', { table: name, objectId: id, keys: ['AccountId'] });
    assert.deepEqual([some.AccountId.Name, some.Name], ['Dana', undefined]);
  });

  test('Get-Record: a record or a table that there is not', async () => {
    await refused('Get-Record', { table: name, objectId: 'nothing000' }, 101, /^Object not found\. \(code 101\)/);
    await refused('Get-Record', { table: 'Nope', objectId: ids[0] }, 103, /^Class Nope does not exist/);
    await refused('Get-Record', { table: name }, 107, /objectId is required/);
    await refused('Get-Record', { table: name, objectId: 5 }, 107, /objectId must be of type string/);
  });
});
