/** Writes by `where` have the history and the triggers of single writes. Reference: records.md#write-many-records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, path } from '../support/records.ts';
import { changed, creates, gone, nothing, rows, runs, updates } from './effects.ts';
import { onEachEngine } from './world.ts';

onEachEngine((world) => {
  const { call, createAll, effects, find, place, trigger } = world;
  const put = async (table: string, where: Json, body: Json) => {
    const answer = await call('PUT', path(table), { query: { where }, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const remove = async (table: string, where: Json, body: Json = {}) => {
    const answer = await call('DELETE', path(table), { query: { where }, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const filled = async (n = 3) => {
    const table = await place({ n: 'Number' });
    await createAll(
      table,
      Array.from({ length: n }, (_, at) => ({ n: at })),
    );
    await world.settle();
    return table;
  };

  test('a row of the timeline for each record, with the fields that were sent', async () => {
    const table = await filled();
    const answer = await effects(() => put(table, { n: { $gt: 0 } }, { Name: 'x' }), changed(table, 2));
    assert.deepEqual(answer, { matched: 2, updated: 2, refused: [] });
    const timeline = await find('_Timeline', { objectClass: table, event: 'update' });
    assert.deepEqual(
      timeline.map(({ data }) => data),
      [{ Name: 'x' }, { Name: 'x' }],
    );
    await effects(() => remove(table, { n: 2 }), gone(table, 1));
  });

  test('each record fires the triggers of its table, on what it is afterwards', async () => {
    const table = await filled();
    const made = await place();
    await trigger({
      table,
      events: ['update'],
      criteria: { n: { $gte: 11 } },
      changedFields: ['n'],
      actions: [creates(made, { Name: '{{n}}' })],
    });
    const increment = { n: { __op: 'Increment', amount: 10 } };
    await effects(() => put(table, { n: { $lt: 10 } }, increment), changed(table, 3), runs(2), {
      [`records ${made}`]: 2,
      [`create ${made}`]: 2,
    });
    assert.deepEqual((await find(made)).map(({ Name }) => Name).sort(), ['11', '12']);
    await trigger({ table, events: ['delete'], actions: [creates(made, { Name: 'gone {{n}}' })] });
    await effects(() => remove(table, { n: { $gt: 10 } }), gone(table, 2), runs(2), {
      [`records ${made}`]: 2,
      [`create ${made}`]: 2,
    });
  });

  test('silencing flags count for all of them', async () => {
    const table = await filled();
    await trigger({ table, events: ['update', 'delete'], actions: [creates('Contacts', { FirstName: 'x' })] });
    const flags = { dontRunPlatformTriggers: true, dontUpdatePlatformTimeline: true };
    await effects(() => put(table, { n: { $gte: 0 } }, { Name: 'x', ...flags }), nothing);
    assert.deepEqual(new Set((await find(table)).map(({ Name }) => Name)), new Set(['x']));
    await effects(() => remove(table, { n: { $gte: 0 } }, flags), rows(table, -3));
  });

  test('nothing follows a dry run, another count, or a record that was refused', async () => {
    const table = await filled();
    await trigger({ table, events: ['update', 'delete'], actions: [updates('self', { Name: 'x' })] });
    for (const method of ['PUT', 'DELETE'])
      for (const query of [{ dryRun: 1 }, { expect: 2 }])
        await effects(() => call(method, path(table), { query: { where: {}, ...query }, body: {} }), nothing);
    const pointing = await place({ to: `Pointer:${table}` });
    const all = await find(table);
    await createAll(
      pointing,
      all.map(({ objectId }) => ({ to: { __type: 'Pointer', className: table, objectId } })),
    );
    await world.settle();
    const answer = await effects(() => remove(table, { n: { $gte: 0 } }), nothing);
    assert.equal(answer.refused.length, 3);
  });

  test('what a trigger changes meanwhile is written once, and no other record', async () => {
    const table = await filled(40);
    // Each update of the first group changes records of the next one.
    await trigger({ table, events: ['update'], criteria: { n: 0 }, actions: [creates(table, { n: 5 })] });
    const answer = await put(table, { n: { $lt: 100 } }, { Name: 'x' });
    assert.deepEqual(answer, { matched: 40, updated: 40, refused: [] });
    await world.settle();
    assert.equal((await find(table, { Name: 'x' })).length, 40);
    assert.equal((await find(table)).length, 41);
  });

  test('one row of the request log', async () => {
    const table = await filled();
    const [at] = [`/platform/classes/${table}`];
    await put(table, { n: 1 }, { Name: 'x' });
    await world.settle();
    let logged: Json[] = [];
    for (let left = 50; left > 0 && logged.length === 0; left--) {
      logged = await find('_RequestLog', { path: at, method: 'PUT' });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(
      logged.map(({ statusCode, method }) => [statusCode, method]),
      [[200, 'PUT']],
    );
  });
});
