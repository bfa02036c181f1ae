/** Writes nothing and reports every fault. Reference: tools.md#validate-records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, pointer, unique } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { onEachEngine } from '../engines.ts';

onEachEngine('Validate-Records', ({ use, refused, table, create, call, snapshot, all }) => {
  const check = (name: string, ...data: object[]) => use('Validate-Records', { table: name, data });
  const reported = ({ faults }: Json) => faults.map(({ field, code }: Json) => [field, code]);

  test('good records have no fault', async () => {
    const account = await create('Accounts', { Name: 'Dana' });
    const answer = await check('Tasks', { Name: 'a', AccountId: pointer('Accounts', account) }, { Name: 'b' }, {});
    assert.deepEqual(answer, { checked: 3, valid: 3, results: [] });
  });

  test('every fault of a record is reported as the write would report it', async () => {
    const name = await table({
      n: 'Number',
      flag: 'Boolean',
      when: 'Date',
      list: 'Array',
      file: 'File',
      AccountId: { type: 'Pointer', targetClass: 'Accounts' },
    });
    const before = await snapshot(name);
    const bad: Record<string, Json> = {
      n: 'x',
      flag: 'yes',
      when: '2026-01-01',
      list: 5,
      file: 'https://example.com/a.png',
      AccountId: 'abc',
      'a b': 1,
      constructor: 1,
      other: { __op: 'Fly' },
    };
    const { results, valid } = await check(name, { n: 1 }, bad);
    assert.deepEqual([valid, results.length, results[0].index], [1, 1, 1]);
    assert.deepEqual(
      reported(results[0])
        .map(([field]: [string]) => field)
        .sort(),
      Object.keys(bad).sort(),
    );
    for (const [field, value] of Object.entries(bad)) {
      const refusal = await call('POST', `/platform/classes/${name}`, { body: { [field]: value } });
      const fault = results[0].faults.find((one: Json) => one.field === field);
      assert.deepEqual({ code: fault.code, error: fault.error }, refusal.body, field);
    }
    assert.equal(results[0].faults.find((one: Json) => one.field === 'AccountId').next, 'Get-Lookup-Values');
    assert.equal(await snapshot(name), before);
  });

  test('Pointers to records that are not there, alone, in lists and in relations', async () => {
    const tag = await create('Tags', { Name: 'vip' });
    const name = await table({
      TagId: { type: 'Pointer', targetClass: 'Tags' },
      array_tags_Pointer_Tags: 'Array',
      members: { type: 'Relation', targetClass: 'Tags' },
    });
    const [good, gone] = [pointer('Tags', tag), pointer('Tags', 'gone000000')];
    const { results } = await check(
      name,
      { TagId: good, array_tags_Pointer_Tags: [good], members: { __op: 'AddRelation', objects: [good] } },
      { TagId: gone },
      { array_tags_Pointer_Tags: [good, gone], members: { __op: 'AddRelation', objects: [gone] } },
      { array_tags_Pointer_Tags: [pointer(unique('Nope'), 'gone000000')] },
    );
    assert.deepEqual(
      results.map((one: Json) => [one.index, reported(one)]),
      [
        [1, [['TagId', 101]]],
        [
          2,
          [
            ['array_tags_Pointer_Tags', 101],
            ['members', 101],
          ],
        ],
        [3, [['array_tags_Pointer_Tags', 111]]],
      ],
    );
  });

  test('a multi-select field holds Pointers of the class that its name ends in', async () => {
    const tag = await create('Tags', { Name: 'vip' });
    const account = await create('Accounts', { Name: 'Dana' });
    const field = 'array_tags_Pointer_Tags';
    const before = await table({ [field]: 'Array' });
    for (const name of [before, unique('New')]) {
      const wrong = [[tag], [pointer('Accounts', account)], [{ objectId: tag }], [pointer('Tags', tag), 5]];
      const { results } = await check(
        name,
        { [field]: [pointer('Tags', tag)] },
        ...wrong.map((value) => ({ [field]: value })),
        { [field]: { __op: 'AddUnique', objects: [tag] } },
        { [field]: [] },
      );
      assert.deepEqual(
        results.map((one: Json) => [one.index, reported(one)]),
        [1, 2, 3, 4, 5].map((index) => [index, [[field, 111]]]),
        name,
      );
      assert.match(results[0].faults[0].error, /expected Pointer<Tags> but got String$/);
      assert.match(results[1].faults[0].error, /expected Pointer<Tags> but got Pointer<Accounts>$/);
      assert.equal(results[0].faults[0].next, 'Get-Lookup-Values');
    }
  });

  test('fields that writing would add, with the ones that are perhaps meant', async () => {
    const name = await table({ Name: 'String', PhoneNumber: 'String' });
    const before = await snapshot(name);
    const answer = await check(name, { name: 'x', phone_number: '1', size: 5 }, { size: 6 }, { size: 'x' });
    assert.deepEqual(answer.adds, [
      'field name (String); is Name meant?',
      'field phone_number (String); is PhoneNumber meant?',
      'field size (Number)',
    ]);
    // The third would fail on a Number field, which the first creates.
    assert.deepEqual(
      answer.results.map((one: Json) => [one.index, reported(one)]),
      [[2, [['size', 111]]]],
    );
    assert.equal(await snapshot(name), before);
    const phones = await check('Accounts', { phone_key: '1' });
    assert.deepEqual(phones.adds, ['field phone_key (String)']);
    const missing = unique('New');
    assert.deepEqual((await check(missing, { a: 1 })).adds, [`table ${missing}`, 'field a (Number)']);
    assert.deepEqual(await all(missing), []);
  });

  test('ids that are taken, and flags, which are no fields', async () => {
    const name = await table({});
    const taken = await create(name, {});
    const answer = await check(
      name,
      { objectId: taken },
      { objectId: 'twice00000' },
      { objectId: 'twice00000' },
      { objectId: 5 },
      { dontRunPlatformTriggers: true },
    );
    assert.deepEqual(
      answer.results.map((one: Json) => [one.index, reported(one)]),
      [
        [0, [['objectId', 137]]],
        [2, [['objectId', 137]]],
        [3, [['objectId', 104]]],
      ],
    );
    assert.equal(answer.adds, undefined);
  });

  test('the rules of system tables', async () => {
    const { results } = await check('_Role', { name: 'good one' }, { name: 'bad/one' });
    assert.deepEqual(
      results.map((one: Json) => [one.index, reported(one)]),
      [[1, [[undefined, 139]]]],
    );
    const trigger = { Name: 'a', table: 'Accounts', events: ['update'], actions: [] };
    const triggers = await check('_Trigger', trigger, { ...trigger, events: ['never'] });
    assert.deepEqual(
      triggers.results.map(({ index }: Json) => index),
      [1],
    );
    const users = await check('_User', { username: 'x', password: 'weak', email: 5 });
    assert.match(users.hint, /checked when they are written/);
    await refused('Validate-Records', { table: '_StoredFile', data: [{}] }, 119, /^Permission denied/);
    await refused('Validate-Records', { table: 'a b', data: [{}] }, 103, /^Invalid class name/);
  });

  test('many faults keep within an answer', async () => {
    const name = await table({ n: 'Number' });
    const answer = await use('Validate-Records', { table: name, data: Array.from({ length: 1_000 }, () => ({ n: 'x' })) });
    assert.ok(bytesOf(answer) <= MAX_BYTES);
    assert.deepEqual([answer.checked, answer.valid, answer.truncated], [1_000, 0, true]);
    await refused('Validate-Records', { table: name, data: [] }, 107, /data must not be empty/);
    await refused('Validate-Records', { table: name, data: 'x' }, 107, /data must be of type array/);
  });
});
