/** A table that gains or loses many fields at once keeps its records and indexes. Reference: schemas.md#change-a-table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { create, find, onEachEngine, pointer, tableName } from '../support/query.ts';

const FIELDS = 300;

onEachEngine((get) => {
  const send = async (method: string, table: string, body: unknown) => {
    const answer = await get().call(method, `/platform/schemas/${table}`, { body });
    assert.equal(answer.status, 200, answer.text);
  };

  test('Schemas PUT: many fields come and go; records, relations, indexes and words stay', async () => {
    const table = tableName('Wide');
    await send('POST', table, {
      fields: {
        text: { type: 'String' },
        n: { type: 'Number' },
        gone: { type: 'String' },
        self: { type: 'Pointer', targetClass: table },
        many: { type: 'Relation', targetClass: table },
        lost: { type: 'Relation', targetClass: table },
      },
      indexes: { byNumber: { n: 1 }, byGone: { gone: 1 } },
      textIndex: ['text', 'gone'],
    });
    const first = await create(get(), table, { text: 'red apple', n: 1, gone: 'pear' });
    const second = await create(get(), table, {
      text: 'green apple',
      n: 2,
      self: pointer(table, first),
      many: { __op: 'AddRelation', objects: [pointer(table, first)] },
    });
    const check = async () => {
      const ids = async (where: object) => (await find(get(), table, { where, order: 'createdAt' })).map((row) => row.objectId);
      assert.deepEqual(await ids({ $text: { $search: { $term: 'apple' } } }), [first, second]);
      assert.deepEqual(await ids({ n: { $gte: 2 } }), [second]);
      assert.deepEqual(await ids({ self: pointer(table, first) }), [second]);
      assert.deepEqual(await ids({ $relatedTo: { object: pointer(table, second), key: 'many' } }), [first]);
    };
    await check();
    const names = Array.from({ length: FIELDS }, (_, n) => `f${n}`);
    const types = [{ type: 'String' }, { type: 'Pointer', targetClass: table }, { type: 'Array' }];
    await send('PUT', table, { fields: Object.fromEntries(names.map((name, n) => [name, types[n % 3]])) });
    await check();
    const third = await create(get(), table, { f0: 'value', f1: pointer(table, first), f2: [1] });
    assert.deepEqual(
      (await find(get(), table, { where: { f1: pointer(table, first), f2: 1 } })).map(({ objectId, f0 }) => [objectId, f0]),
      [[third, 'value']],
    );
    const renames = names.slice(3).map((name) => [name, { __op: 'Rename', to: `${name}New` }]);
    await send('PUT', table, { fields: Object.fromEntries(renames) });
    const options = names
      .slice(3)
      .map((name, n) => [`${name}New`, { ...types[n % 3], ...(n % 3 === 0 && { defaultValue: 'd' }) }]);
    await send('PUT', table, { fields: Object.fromEntries(options) });
    const defaults = await create(get(), table, { f0: 'value' });
    const [filled] = await find(get(), table, { where: { objectId: defaults } });
    assert.deepEqual(
      names.slice(3).filter((name) => filled?.[`${name}New`] === 'd'),
      names.slice(3).filter((_, n) => n % 3 === 0),
    );
    const back = names.slice(3).map((name) => [`${name}New`, { __op: 'Rename', to: name }]);
    await send('PUT', table, { fields: Object.fromEntries(back) });
    assert.equal((await get().call('DELETE', `/platform/classes/${table}/${defaults}`)).status, 200);
    const dropped = ['gone', 'lost', ...names.slice(1)];
    await send('PUT', table, { fields: Object.fromEntries(dropped.map((name) => [name, { __op: 'Delete' }])) });
    await check();
    const { body } = await get().call('GET', `/platform/schemas/${table}`);
    assert.deepEqual(
      Object.keys(body.fields).filter((name) => /^(?:f\d+|gone|lost|text|n|self|many)$/.test(name)),
      ['text', 'n', 'self', 'many', 'f0'],
    );
    assert.deepEqual(Object.keys(body.indexes), ['byNumber']);
    // A dropped name that is added again is empty, whatever its type.
    await send('PUT', table, { fields: { gone: { type: 'Number' }, lost: { type: 'Relation', targetClass: table } } });
    assert.equal((await find(get(), table, { where: { gone: { $exists: true } } })).length, 0);
    const last = await create(get(), table, { text: 'apple again', gone: 3 });
    assert.deepEqual(
      (await find(get(), table, { where: { $text: { $search: { $term: 'again' } } } })).map(({ objectId }) => objectId),
      [last],
    );
  });

  test('Schemas PUT: others are answered while 1,500 fields come, and while they go', async () => {
    const table = tableName('Wide');
    await send('POST', table, {});
    let isDone = false;
    let longestMs = 0;
    const watched = (async () => {
      while (!isDone) {
        const startedAt = performance.now();
        await (await fetch(`${get().url}/health/live`)).text();
        longestMs = Math.max(longestMs, performance.now() - startedAt);
        await wait(10);
      }
    })();
    const all = (definition: object) => ({
      fields: Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`f${n}`, definition])),
    });
    await send('PUT', table, all({ type: 'String' }));
    await send('PUT', table, all({ __op: 'Delete' })).finally(() => {
      isDone = true;
    });
    await watched;
    // Changing the fields one by one blocked all other requests for more than a minute on an idle machine with SQLite.
    assert.ok(longestMs < 6_000, `${longestMs} ms`);
  });
});
