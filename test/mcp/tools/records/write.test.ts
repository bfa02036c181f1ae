/** Create-Record, Create-Many, Update-Record, Update-Many, Upsert-Record. Reference: tools.md#upsert-record, records.md#silencing-flags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { date, type Json, master, pointer, unique } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { onEachEngine } from '../engines.ts';

onEachEngine('writing records', ({ use, useAsMaster, refused, table, create, read, all, fields, call }) => {
  const timeline = async (id: string): Promise<Json[]> =>
    (await call('GET', '/platform/classes/_Timeline', { query: { where: { objectIdValue: id }, order: 'createdAt' } })).body
      .results;

  test('Create-Record', async () => {
    const made = await use('Create-Record', { table: 'Accounts', data: { Name: 'Dana', IsAccount: false } });
    assert.deepEqual(Object.keys(made), ['objectId', 'createdAt']);
    const stored = await read('Accounts', made.objectId);
    assert.deepEqual([stored.Name, stored.IsAccount, stored.createdBy], ['Dana', false, master]);
    const [row] = await timeline(made.objectId);
    assert.deepEqual([row.event, row.user, row.Referer ?? null], ['create', master, null]);
  });

  test('what a write adds to the schema is reported', async () => {
    const name = unique('New');
    const made = await use('Create-Record', { table: name, data: { Name: 'x', AccountId: pointer('Accounts', 'a000000000') } });
    assert.deepEqual(made.added, [
      `table ${name}`,
      `field Name (String) on ${name}`,
      `field AccountId (Pointer<Accounts>) on ${name}`,
    ]);
    const changed = await use('Update-Record', { table: name, objectId: made.objectId, data: { size: 5 } });
    assert.deepEqual(changed.added, [`field size (Number) on ${name}`]);
    const many = await use('Create-Many', { table: name, data: [{ a: 1 }, { b: 'x' }] });
    assert.deepEqual(many.added, [`field a (Number) on ${name}`, `field b (String) on ${name}`]);
    assert.deepEqual((await use('Update-Record', { table: name, objectId: made.objectId, data: { size: 6 } })).added, undefined);
  });

  test('a refused write leaves nothing, and says what is expected', async () => {
    const name = await table({ n: 'Number', AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
    const error = await refused(
      'Create-Record',
      { table: name, data: { n: 'x', other: 1 } },
      111,
      /^schema mismatch for \S+\.n; expected Number but got String \(code 111\)\./,
    );
    assert.match(error.expected, /JSON number/);
    const bare = await refused('Create-Record', { table: name, data: { AccountId: 'abc' } }, 111, /Get-Lookup-Values/);
    assert.match(bare.expected, /"className":"Accounts"/);
    assert.deepEqual(await all(name), []);
    assert.equal((await fields(name)).other, undefined);
  });

  test('Create-Record: wrong arguments', async () => {
    await refused('Create-Record', { table: 'Accounts' }, 107, /data must be an object/);
    await refused('Create-Record', { table: 'Accounts', data: [] }, 107, /data must be an object/);
    await refused('Create-Record', { table: 'Accounts', data: { 'a b': 1 } }, 105, /^Invalid field name: a b/);
    await refused('Create-Record', { table: 'a b', data: {} }, 103, /^Invalid class name/);
    await refused('Create-Record', { table: '_StoredFile', data: {} }, 119, /^Permission denied for action create/);
    await refused('Create-Record', { table: 'Accounts', data: {}, objectId: 'x' }, 107, /objectId is unknown/);
  });

  test('Create-Many: one outcome for each item, in order; what succeeded stays', async () => {
    const name = await table({ n: 'Number' });
    const answer = await use('Create-Many', { table: name, data: [{ n: 1 }, { n: 'x' }, { n: 3 }] });
    assert.deepEqual([answer.succeeded, answer.failed], [2, 1]);
    assert.deepEqual(
      answer.results.map((one: Json) => Object.keys(one)[0]),
      ['success', 'error', 'success'],
    );
    assert.deepEqual([answer.results[1].error.code, answer.results[1].error.next], [111, 'Get-Schema']);
    const stored = await all(name);
    assert.deepEqual(
      stored.map((row) => [row.objectId, row.n]),
      [
        [answer.results[0].success.objectId, 1],
        [answer.results[2].success.objectId, 3],
      ],
    );
  });

  test('Create-Many: a thousand outcomes fit, of good and of bad items', async () => {
    const name = await table({ n: 'Number' });
    const good = await use('Create-Many', { table: name, data: Array.from({ length: 1_000 }, (_, n) => ({ n })) });
    assert.ok(bytesOf(good) <= MAX_BYTES);
    assert.equal(good.succeeded, 1_000);
    const stored = new Set((await all(name)).map((row) => row.objectId));
    assert.ok(good.results.every(({ success }: Json) => stored.has(success.objectId)));
    const bad = await use('Create-Many', {
      table: name,
      data: Array.from({ length: 1_000 }, (_, n) => (n % 2 ? { n: 'x' } : { n })),
    });
    assert.ok(bytesOf(bad) <= MAX_BYTES);
    assert.deepEqual([bad.succeeded, bad.failed, bad.results.length], [500, 500, 1_000]);
    assert.match(bad.results[1].error.error, /^schema mismatch/);
    assert.ok(bad.results.every((one: Json, at: number) => (at % 2 ? one.error.code === 111 : one.success.objectId)));
    await refused(
      'Create-Many',
      { table: name, data: Array.from({ length: 1_001 }, () => ({})) },
      107,
      /data must have at most 1000 items/,
    );
    await refused('Create-Many', { table: name, data: [] }, 107, /data must not be empty/);
    await refused('Create-Many', { table: name, data: [1] }, 107, /data\[0\] must be an object/);
    assert.equal((await all(name)).length, 1_500);
  });

  test('the silencing arguments count under the master key alone, and so do the flags of REST', async () => {
    const rows = async (run: (name: string, args: object) => Promise<Json>, more: object, flags: object = {}) => {
      const made = await run('Create-Record', { table: 'Accounts', data: { Name: 'quiet', ...flags }, ...more });
      const { results } = await run('Create-Many', { table: 'Accounts', data: [{ Name: 'quiet', ...flags }], ...more });
      await run('Update-Record', { table: 'Accounts', objectId: made.objectId, data: { City: 'x', ...flags }, ...more });
      await run('Update-Many', {
        table: 'Accounts',
        updates: [{ objectId: made.objectId, data: { City: 'y', ...flags } }],
        ...more,
      });
      return [(await timeline(made.objectId)).length, (await timeline(results[0].success.objectId)).length];
    };
    assert.deepEqual(await rows(use, { skipTimeline: true }), [3, 1]);
    assert.deepEqual(await rows(use, {}, { dontUpdatePlatformTimeline: true }), [3, 1]);
    assert.deepEqual(await rows(useAsMaster, { skipTimeline: true }), [0, 0]);
    assert.deepEqual(await rows(useAsMaster, {}, { dontUpdatePlatformTimeline: true }), [0, 0]);
    assert.deepEqual(await rows(useAsMaster, { skipTimeline: false }), [3, 1]);
    assert.equal((await fields('Accounts')).dontUpdatePlatformTimeline, undefined);
  });

  test('flags that do not count are reported', async () => {
    const objectId = await create('Accounts', { Name: 'x' });
    const calls: [string, object][] = [
      ['Create-Record', { data: { Name: 'x' } }],
      ['Create-Many', { data: [{ Name: 'x' }] }],
      ['Update-Record', { objectId, data: { City: 'x' } }],
      ['Update-Many', { updates: [{ objectId, data: { City: 'x' } }] }],
    ];
    for (const [name, args] of calls) {
      const sent = { table: 'Accounts', ...args, skipTriggers: true, skipTimeline: true };
      assert.deepEqual((await use(name, sent)).ignored, ['skipTriggers', 'skipTimeline'], name);
      assert.deepEqual((await use(name, { ...sent, skipTriggers: false })).ignored, ['skipTimeline'], name);
      assert.equal((await use(name, { table: 'Accounts', ...args })).ignored, undefined, name);
      assert.equal((await useAsMaster(name, sent)).ignored, undefined, name);
    }
  });

  test('skipTriggers', async () => {
    const name = await table({ Name: 'String' });
    const echo = await table({ Name: 'String' });
    await create('_Trigger', {
      Name: 'echo',
      table: name,
      events: ['create'],
      actions: [{ type: 'create-object', actionData: { table: echo, fields: { Name: '{{Name}}' } } }],
    });
    await useAsMaster('Create-Record', { table: name, data: { Name: 'silent' }, skipTriggers: true });
    await use('Create-Record', { table: name, data: { Name: 'heard' }, skipTriggers: true });
    for (let tries = 0; tries < 100 && (await all(echo)).length === 0; tries++) await new Promise((done) => setTimeout(done, 50));
    assert.deepEqual(
      (await all(echo)).map((row) => row.Name),
      ['heard'],
    );
  });

  test('Update-Record: fields, operators, and the values that they make', async () => {
    const name = await table({ n: 'Number', list: 'Array', gone: 'String' });
    const objectId = await create(name, { n: 1, list: ['a'], gone: 'x' });
    const data = {
      n: { __op: 'Increment', amount: 4 },
      list: { __op: 'AddUnique', objects: ['a', 'b'] },
      gone: { __op: 'Delete' },
    };
    const answer = await use('Update-Record', { table: name, objectId, data });
    assert.deepEqual([answer.objectId, answer.n, answer.list], [objectId, 5, ['a', 'b']]);
    const stored = await read(name, objectId);
    assert.deepEqual([stored.n, stored.list, stored.gone, stored.updatedAt], [5, ['a', 'b'], undefined, answer.updatedAt]);
    const long = { __op: 'Add', objects: ['x'.repeat(50_000)] };
    assert.equal((await use('Update-Record', { table: name, objectId, data: { list: long } })).truncated, true);
    assert.equal((await read(name, objectId)).list.length, 3);
  });

  test('Update-Record with ifUpdatedAt: only as long as nothing was written since', async () => {
    const name = await table({ n: 'Number' });
    const objectId = await create(name, { n: 1 });
    const { updatedAt } = await read(name, objectId);
    await refused(
      'Update-Record',
      { table: name, objectId, data: { n: 9 }, ifUpdatedAt: '2020-01-01T00:00:00.000Z' },
      409,
      /changed meanwhile/,
    );
    assert.equal((await read(name, objectId)).n, 1);
    await use('Update-Record', { table: name, objectId, data: { n: 2 }, ifUpdatedAt: updatedAt });
    await new Promise((done) => setTimeout(done, 2));
    const next = await use('Update-Record', { table: name, objectId, data: { n: 3 } });
    const error = await refused(
      'Update-Record',
      { table: name, objectId, data: { n: 9 }, ifUpdatedAt: updatedAt },
      409,
      /changed meanwhile/,
    );
    assert.match(error.expected, /Read it again/);
    await use('Update-Record', { table: name, objectId, data: { n: 4 }, ifUpdatedAt: next.updatedAt });
    assert.equal((await read(name, objectId)).n, 4);
    await refused(
      'Update-Record',
      { table: name, objectId, data: {}, ifUpdatedAt: 'yesterday' },
      107,
      /ifUpdatedAt must be a date and time/,
    );
    const missing = { table: name, objectId: 'nothing000', data: { n: 1 } };
    await refused('Update-Record', missing, 101, /^Object not found\./);
    await refused('Update-Record', { ...missing, ifUpdatedAt: updatedAt }, 101, /^Object not found\./);
  });

  test('Update-Many: each record its own values and outcome', async () => {
    const name = await table({ n: 'Number' });
    const [a, b] = [await create(name, { n: 1 }), await create(name, { n: 2 })];
    const updates = [
      { objectId: a, data: { n: 10 } },
      { objectId: 'nothing000', data: { n: 1 } },
      { objectId: b, data: { n: { __op: 'Increment', amount: 5 } } },
      { objectId: b, data: { n: 'x' } },
    ];
    const answer = await use('Update-Many', { table: name, updates });
    assert.deepEqual([answer.succeeded, answer.failed], [2, 2]);
    assert.deepEqual([answer.results[0].success.objectId, answer.results[2].success.n], [a, 7]);
    assert.deepEqual([answer.results[1].error.code, answer.results[3].error.code], [101, 111]);
    assert.deepEqual([(await read(name, a)).n, (await read(name, b)).n], [10, 7]);
  });

  test('Update-Many in another form is refused before anything is written', async () => {
    const name = await table({ n: 'Number' });
    const objectId = await create(name, { n: 1 });
    const good = { objectId, data: { n: 2 } };
    const bad = (update: unknown, words: RegExp) => refused('Update-Many', { table: name, updates: [good, update] }, 107, words);
    await bad({ objectId, n: 3 }, /updates\[1\]\.n is unknown/);
    await bad({ data: { n: 3 } }, /updates\[1\]\.objectId is required/);
    await bad({ objectId }, /updates\[1\]\.data must be an object/);
    await bad('x', /updates\[1\] must be an object/);
    assert.equal((await read(name, objectId)).n, 1);
  });

  test('Upsert-Record: creates, then updates the one that matches', async () => {
    const name = await table({
      ExternalId: 'String',
      n: 'Number',
      when: 'Date',
      AccountId: { type: 'Pointer', targetClass: 'Accounts' },
    });
    const upsert = (data: object, matchOn = ['ExternalId']) => use('Upsert-Record', { table: name, matchOn, data });
    const made = await upsert({ ExternalId: 'e1', n: 1 });
    assert.equal(made.created, true);
    const again = await upsert({ ExternalId: 'e1', n: 2 });
    assert.deepEqual([again.created, again.objectId], [false, made.objectId]);
    assert.equal((await read(name, made.objectId)).n, 2);
    // A String field stores a number as text.
    const number = await upsert({ ExternalId: 5, n: 1 });
    assert.deepEqual(
      [(await upsert({ ExternalId: 5, n: 2 })).objectId, (await upsert({ ExternalId: '5' })).objectId],
      [number.objectId, number.objectId],
    );
    const key = { when: date('2026-01-01T00:00:00.000Z'), AccountId: pointer('Accounts', 'a000000000') };
    const both = await upsert({ ...key, n: 5 }, ['when', 'AccountId']);
    assert.equal((await upsert({ ...key, n: 6 }, ['when', 'AccountId'])).objectId, both.objectId);
    assert.equal((await all(name)).length, 3);
  });

  test('Upsert-Record: several that match are named, and nothing is written', async () => {
    const name = await table({ k: 'String', n: 'Number' });
    const ids = [await create(name, { k: 'a' }), await create(name, { k: 'a' })];
    const error = await refused(
      'Upsert-Record',
      { table: name, matchOn: ['k'], data: { k: 'a', n: 1 } },
      107,
      /matchOn fits several records/,
    );
    for (const id of ids) assert.match(error.error, new RegExp(id));
    assert.deepEqual(
      (await all(name)).map((row) => row.n),
      [undefined, undefined],
    );
  });

  test('Upsert-Record: calls for one new record at the same moment make one', async () => {
    const name = await table({ k: 'String', n: 'Number' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => use('Upsert-Record', { table: name, matchOn: ['k'], data: { k: 'same', n } })),
    );
    assert.equal(answers.filter(({ created }) => created).length, 1);
    assert.equal((await all(name)).length, 1);
  });

  test('Upsert-Record: wrong arguments', async () => {
    const name = await table({ k: 'String', list: 'Array', o: 'Object' });
    const bad = (matchOn: unknown, data: object, words: RegExp) =>
      refused('Upsert-Record', { table: name, matchOn, data }, 107, words);
    await bad([], { k: 'a' }, /matchOn must name a field/);
    await bad(['k'], { n: 1 }, /matchOn names k, which data has no value for/);
    await bad(['k'], { k: null }, /no value/);
    await bad(['k'], { k: '' }, /no value/);
    await bad(['k'], { k: { __op: 'Delete' } }, /no value/);
    await bad(['k'], { k: { $exists: true } }, /not a value that can be matched on/);
    await bad(['list'], { list: [1] }, /which is of type Array/);
    await bad(['o'], { o: { a: 1 } }, /which is of type Object/);
    await bad(['__proto__'], {}, /no value/);
    await bad(['objectId'], { objectId: 'a000000000' }, /matchOn names objectId, which the service sets/);
    await bad(['createdAt'], { createdAt: 'x' }, /which the service sets/);
    await bad('k', { k: 'a' }, /matchOn must be of type array/);
    assert.deepEqual(await all(name), []);
  });
});
