/** `changedFields`: values before and after the write are compared. Reference: triggers.md#definition. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, path, pointer } from '../support/records.ts';
import { signUp, type User } from '../support/users.ts';
import { changed, creates, made, rows, runs, said } from './effects.ts';
import { onEachEngine } from './world.ts';

const types = {
  ...{ n: 'Number', s: 'String', is: 'Boolean', at: 'Date', o: 'Object', list: 'Array', P: 'Pointer:Tags', none: 'Number' },
  ...{ html: 'HTML/XML', R: 'Relation:Tags', other: 'String' },
};
const tag = (id: string) => pointer('Tags', id);
const initial = {
  ...{
    n: 5,
    s: 'text',
    is: false,
    at: date('2026-01-01T10:00:00.000Z'),
    o: { a: 1, b: { c: [1] } },
    list: ['x', tag('tag0000001')],
  },
  ...{ P: tag('tag0000001'), html: '<p>', other: 'x' },
};

/** What an update sends, and the fields whose values it changes. */
const cases: readonly [body: Json, changes: string[]][] = [
  [{}, []],
  [{ n: 5 }, []],
  [{ n: 6 }, ['n']],
  [{ n: 5.5, other: 'y' }, ['n']],
  [{ n: null }, ['n']],
  [{ n: { __op: 'Increment', amount: 0 } }, []],
  [{ n: { __op: 'Increment', amount: 1 } }, ['n']],
  [{ n: { __op: 'Delete' } }, ['n']],
  [{ n: { __op: 'SetOnInsert', amount: 7 } }, []],
  [{ none: null }, []],
  [{ none: { __op: 'Delete' } }, []],
  [{ none: 0 }, ['none']],
  [{ none: { __op: 'Increment', amount: 1 } }, ['none']],
  [{ s: 'text' }, []],
  [{ s: 'Text' }, ['s']],
  [{ s: 'text ' }, ['s']],
  [{ s: '' }, ['s']],
  [{ html: '<p>' }, []],
  [{ html: '<br>' }, ['html']],
  [{ is: false }, []],
  [{ is: true }, ['is']],
  [{ is: null }, ['is']],
  [{ at: date('2026-01-01T10:00:00.000Z') }, []],
  [{ at: date('2026-01-01T12:00:00.000+02:00') }, []],
  [{ at: date('2026-01-01T10:00:00.001Z') }, ['at']],
  [{ o: { a: 1, b: { c: [1] } } }, []],
  [{ o: { b: { c: [1] }, a: 1 } }, []],
  [{ o: { a: 1, b: { c: [1, 2] } } }, ['o']],
  [{ o: { a: 1 } }, ['o']],
  [{ 'o.a': 1 }, []],
  [{ 'o.a': 2 }, ['o']],
  [{ 'o.a': { __op: 'Increment', amount: 1 } }, ['o']],
  [{ 'o.z': { __op: 'Delete' } }, []],
  [{ list: ['x', tag('tag0000001')] }, []],
  [{ list: [tag('tag0000001'), 'x'] }, ['list']],
  [{ list: [] }, ['list']],
  [{ list: { __op: 'AddUnique', objects: ['x'] } }, []],
  [{ list: { __op: 'AddUnique', objects: [tag('tag0000001')] } }, []],
  [{ list: { __op: 'AddUnique', objects: ['x', 'y'] } }, ['list']],
  [{ list: { __op: 'Add', objects: ['x'] } }, ['list']],
  [{ list: { __op: 'Remove', objects: ['nowhere'] } }, []],
  [{ list: { __op: 'Remove', objects: ['x'] } }, ['list']],
  [{ P: tag('tag0000001') }, []],
  [{ P: tag('tag0000002') }, ['P']],
  [{ P: null }, ['P']],
  [{ R: { __op: 'AddRelation', objects: [tag('tag0000001')] } }, ['R']],
  [{ other: 'y' }, []],
  // Clients may send the whole form (system-tables.md#_timeline).
  [{ ...initial }, []],
  [{ ...initial, none: null, other: 'y' }, []],
  [{ ...initial, n: 6, s: 'new' }, ['n', 's']],
];

onEachEngine((world) => {
  const fields = Object.keys(types).filter((name) => name !== 'other');
  let user: User;
  before(async () => {
    user = await signUp(world);
  });

  for (const caller of ['master', 'session'] as const)
    test(`an update fires a trigger where a field of it has another value than before (${caller})`, async () => {
      const table = await world.place(types);
      // By field, the trigger of it.
      const defined = await world.triggers(
        fields.map((name) => ({ table, events: ['update'], changedFields: [name], actions: [] })),
      );
      const names = new Map(fields.map((name, at) => [defined[at], name]));
      const ids = await world.createAll(
        table,
        cases.map(() => initial),
      );
      await world.settle();
      const options = caller === 'session' ? { session: user.token } : {};
      const n = cases.reduce((sum, [, changes]) => sum + changes.length, 0);
      const act = async () => {
        for (const [at, [body]] of cases.entries()) {
          const answer = await world.put(table, ids[at] ?? '', body, options);
          assert.equal(answer.status, 200, `${JSON.stringify(body)}: ${answer.text}`);
        }
        await world.settle();
        const log = await world.log({ triggerId: { $in: [...names.keys()] } });
        const fired = cases.map(([body], at) => {
          const own = log.filter(({ objectIdValue }) => objectIdValue === ids[at]);
          return [JSON.stringify(body), own.map(({ triggerId }) => names.get(triggerId)).sort()];
        });
        assert.deepEqual(
          fired,
          cases.map(([body, changes]) => [JSON.stringify(body), changes.toSorted()]),
        );
      };
      await world.effects(act, changed(table, cases.length), runs(n, 0));
    });

  test('several names: one that has changed suffices; creates and deletes have no before', async () => {
    const table = await world.place({ n: 'Number', s: 'String', other: 'String' });
    const heard = await world.place();
    const events = ['create', 'update', 'delete'];
    await world.trigger({ table, events, changedFields: ['n', 's'], actions: [creates(heard)] });
    const id = await world.effects(() => world.create(table, { other: 'x' }), made(table), made(heard), runs());
    await world.effects(() => world.update(table, id, { other: 'y' }), changed(table));
    await world.effects(() => world.update(table, id, { s: 'x', other: 'y' }), changed(table), made(heard), runs());
    await world.effects(() => world.update(table, id, { n: 1, s: 'y' }), changed(table), made(heard), runs());
    const remove = () => world.remove(table, id);
    await world.effects(remove, rows(table, -1), { [`delete ${table}`]: 1 }, made(heard), runs());
  });

  test('what the service sets with each update counts as well; what it never changes never fires', async () => {
    const table = await world.place({ n: 'Number' });
    const heard = await world.place({ n: 'Number' });
    for (const changedFields of [['updatedAt'], ['createdAt'], ['objectId'], ['createdBy']])
      await world.trigger({ table, events: ['update'], changedFields, actions: [creates(heard)] });
    await world.trigger({ table, events: ['update'], changedFields: ['updatedBy'], actions: [creates(heard, { n: 1 })] });
    const id = await world.create(table, { n: 1 });
    await world.effects(() => world.update(table, id, { n: 1 }), changed(table), made(heard), runs());
    const bySession = () => world.put(table, id, { n: 2 }, { session: user.token });
    await world.effects(bySession, changed(table), made(heard, 2), runs(2));
    assert.deepEqual(
      (await world.find(heard, { n: 1 })).map(({ n }) => n),
      [1],
    );
  });

  test('changedFields and criteria: both', async () => {
    const table = await world.place({ n: 'Number', s: 'String' });
    const heard = await world.place();
    const criteria = { s: 'open' };
    await world.trigger({ table, events: ['update'], changedFields: ['n'], criteria, actions: [creates(heard)] });
    const id = await world.create(table, { n: 1, s: 'closed' });
    await world.effects(() => world.update(table, id, { n: 2 }), changed(table));
    await world.effects(() => world.update(table, id, { s: 'open' }), changed(table));
    await world.effects(() => world.update(table, id, { n: 2, s: 'open' }), changed(table));
    await world.effects(() => world.update(table, id, { n: 3 }), changed(table), made(heard), runs());
    await world.effects(() => world.update(table, id, { n: 4, s: 'closed' }), changed(table));
  });

  test('each update is compared with the one before it, in a batch and side by side', async () => {
    const table = await world.place({ n: 'Number' });
    const heard = await world.place({ n: 'Number' });
    await world.trigger({ table, events: ['update'], changedFields: ['n'], actions: [creates(heard, { n: '{{n}}' })] });
    const id = await world.create(table, { n: 0 });
    const requests = [1, 1, 2, 2, 2, 1, 0, 0].map((n) => ({ method: 'PUT', path: path(table, id), body: { n } }));
    const act = () => world.call('POST', '/platform/batch', { body: { requests } });
    await world.effects(act, changed(table, 8), made(heard, 4), runs(4));
    assert.deepEqual(
      (await world.find(heard)).map(({ n }) => n),
      [1, 2, 1, 0],
    );
    const increment = { n: { __op: 'Increment', amount: 1 } };
    const together = () =>
      Promise.all(Array.from({ length: 20 }, (_, at) => world.update(table, id, at % 2 === 0 ? increment : { Name: 'x' })));
    await world.effects(together, changed(table, 20), made(heard, 10), runs(10));
    assert.deepEqual(
      (await world.find(heard)).slice(4).map(({ n }) => n),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
  });

  test('decisions: a field that is gone: one error row for each update', async () => {
    const table = await world.place({ n: 'Number', s: 'String' });
    const heard = await world.place();
    const id = await world.trigger({ table, events: ['update'], changedFields: ['n'], actions: [creates(heard)] });
    const both = await world.trigger({ table, events: ['update'], changedFields: ['s', 'n'], actions: [creates(heard)] });
    const record = await world.create(table, { n: 1 });
    await world.effects(() => world.update(table, record, { other: 1 }), changed(table));
    const drop = await world.call('PUT', `/platform/schemas/${table}`, { body: { fields: { n: { __op: 'Delete' } } } });
    assert.equal(drop.status, 200, drop.text);
    await world.effects(() => world.update(table, record, { s: 'x' }), changed(table), runs(0, 0, 2));
    await world.effects(() => world.update(table, record, {}), changed(table), runs(0, 0, 2));
    for (const triggerId of [id, both])
      for (const row of await world.log({ triggerId })) {
        assert.equal(said(row), `Invalid trigger: changedFields names no field of ${table}: n`);
        assert.deepEqual([row.actionId, row.event, row.objectIdValue], [undefined, 'update', record]);
      }
    await world.addFields(table, { n: 'Number' });
    await world.effects(() => world.update(table, record, { n: 1 }), changed(table), made(heard, 2), runs(2));
  });

  test('a field that gets its first value, and one that is new to the table', async () => {
    const table = await world.place({ n: 'Number' });
    const heard = await world.place();
    await world.trigger({ table, events: ['update'], changedFields: ['n'], actions: [creates(heard)] });
    const id = await world.create(table, {});
    await world.effects(() => world.update(table, id, { brandNew: 5 }), changed(table));
    await world.effects(() => world.update(table, id, { n: 0, newToo: 'x' }), changed(table), made(heard), runs());
  });
});
