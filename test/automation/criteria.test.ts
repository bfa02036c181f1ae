/**
 * Reference: triggers.md#criteria. Criteria are evaluated on the record as it is after
 * a create or an update, and as it was before a delete.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { newPhone, on } from '../functions/forms.ts';
import { date, type Json, pointer } from '../support/records.ts';
import { changed, creates, gone, made, runs } from './effects.ts';
import { onEachEngine } from './world.ts';

const day = (n: number) => date(`2026-03-${String(n).padStart(2, '0')}T08:00:00.000Z`);

/** Criteria, and whether they hold of the record below, which points at `tag` and not at `other`. */
const cases = (tag: Json, other: Json): readonly [where: Json, holds: boolean][] => {
  const list = 'array_tags_Pointer_Tags';
  return [
    [{}, true],
    [{ Name: 'דנה' }, true],
    [{ Name: 'דנ' }, false],
    [{ Name: { $ne: 'x' } }, true],
    [{ Name: { $regex: '^ד' } }, true],
    [{ Name: { $regex: 'B', $options: 'i' } }, false],
    [{ City: { $in: ['Haifa', 'Yafo'] } }, true],
    [{ City: { containedIn: ['Haifa'] } }, true],
    [{ City: { notContainedIn: ['Haifa'] } }, false],
    [{ City: { $nin: ['Yafo'] } }, true],
    [{ n: 5 }, true],
    [{ n: '5' }, false],
    [{ n: { $gt: 5 } }, false],
    [{ n: { $gte: 5, $lt: 5.5 } }, true],
    [{ n: { $ne: 5 } }, false],
    [{ n: { $exists: true } }, true],
    [{ is: true }, true],
    [{ is: { $ne: true } }, false],
    [{ none: { $exists: false } }, true],
    [{ none: null }, true],
    [{ Name: null }, false],
    [{ none: { $ne: 1 } }, true],
    [{ none: { $gt: 0 } }, false],
    [{ noSuchField: 'x' }, false],
    [{ noSuchField: { $exists: false } }, true],
    [{ at: day(5) }, true],
    [{ at: { $gte: day(5) } }, true],
    [{ at: { $gt: day(5) } }, false],
    [{ at: { $lt: day(6) } }, true],
    // Bare strings match nothing (queries.md#comparison).
    [{ at: '2026-03-05T08:00:00.000Z' }, false],
    [{ createdAt: { $gt: day(1) } }, true],
    [{ createdAt: { $gt: date('2126-01-01T00:00:00.000Z') } }, false],
    [{ P: tag }, true],
    [{ P: other }, false],
    [{ P: tag.objectId }, false],
    [{ P: { $in: [other, tag] } }, true],
    [{ P: { $exists: true } }, true],
    [{ P: { $inQuery: { className: 'Tags', where: { Name: 'hot' } } } }, true],
    [{ P: { $inQuery: { className: 'Tags', where: { Name: 'cold' } } } }, false],
    [{ 'P.Name': 'hot' }, true],
    [{ 'P.Name': { $ne: 'hot' } }, false],
    [{ $or: [{ 'P.Name': 'cold' }, { n: 1 }] }, false],
    [{ P: { $notInQuery: { className: 'Tags', where: { Name: 'cold' } } } }, true],
    [{ Name: { $select: { query: { className: 'Tags', where: {} }, key: 'Name' } } }, false],
    [{ $or: [{ n: 1 }, { City: 'Haifa' }] }, true],
    [{ $or: [{ n: 1 }, { City: 'Yafo' }] }, false],
    [{ $and: [{ n: 5 }, { City: 'Haifa' }] }, true],
    [{ $nor: [{ n: 5 }] }, false],
    [{ $or: [{ n: 1 }, { P: { $inQuery: { className: 'Tags', where: { Name: 'hot' } } } }] }, true],
    [{ n: 5, $or: [{ City: 'Haifa' }], is: true }, true],
    [{ n: 5, $or: [{ City: 'Haifa' }], is: false }, false],
    [{ 'o.a': 1 }, true],
    [{ 'o.a': 2 }, false],
    [{ 'o.deep.list': 'y' }, true],
    [{ 'o.nothing': { $exists: false } }, true],
    [{ list: 'x' }, true],
    [{ list: { $all: ['x', 2] } }, true],
    [{ list: { $all: ['x', 3] } }, false],
    [{ list: { $containedBy: ['x', 2, 3] } }, true],
    [{ list: { $gt: 1 } }, true],
    [{ [list]: tag }, true],
    [{ [list]: { containedIn: [tag] } }, true],
    [{ [list]: { containedIn: [other] } }, false],
    [{ [list]: tag.objectId }, false],
    [{ R: tag }, true],
    [{ R: other }, false],
    [{ objectId: 'the record' }, true],
    [{ objectId: 'another' }, false],
    [{ createdBy: pointer('_User', 'master') }, true],
  ];
};

onEachEngine((world) => {
  let hot: string;
  let cold: string;
  before(async () => {
    [hot, cold] = [await world.create('Tags', { Name: 'hot' }), await world.create('Tags', { Name: 'cold' })];
  });

  const fields = {
    ...{
      City: 'String',
      n: 'Number',
      is: 'Boolean',
      none: 'Number',
      at: 'Date',
      o: 'Object',
      list: 'Array',
      P: 'Pointer:Tags',
    },
    ...{ array_tags_Pointer_Tags: 'Array', R: 'Relation:Tags' },
  };
  const record = () => ({
    ...{ Name: 'דנה', City: 'Haifa', n: 5, is: true, at: day(5), o: { a: 1, deep: { list: ['x', 'y'] } }, list: ['x', 2] },
    ...{ P: pointer('Tags', hot), array_tags_Pointer_Tags: [pointer('Tags', hot)] },
    R: { __op: 'AddRelation', objects: [pointer('Tags', hot)] },
  });
  const pointers = () => [pointer('Tags', hot), pointer('Tags', cold)] as const;

  /** One trigger for each criteria; answers which of them, by their place, fired since. */
  const watch = async (table: string, event: string, wheres: readonly Json[]) => {
    const ids = await world.triggers(wheres.map((criteria) => ({ table, events: [event], criteria, actions: [] })));
    return async () => {
      const found = await world.log({ triggerId: { $in: ids } });
      for (const row of found)
        assert.equal(row.error, undefined, `${JSON.stringify(wheres[ids.indexOf(row.triggerId)])}: ${row.error}`);
      return found.map(({ triggerId }) => ids.indexOf(triggerId)).sort((a, b) => a - b);
    };
  };
  const shown = (wheres: readonly Json[], places: readonly number[]) => places.map((at) => JSON.stringify(wheres[at]));

  for (const event of ['create', 'update', 'delete'] as const)
    test(`criteria, of a record that is ${event}d: those that hold fire, the others do not`, async () => {
      const table = await world.place(fields);
      const all = cases(...pointers());
      const wheres = all.map(([where]) => where);
      const objectId = 'the record';
      if (event === 'update') await world.create(table, { objectId, Name: 'x', n: 1 });
      if (event === 'delete') await world.create(table, { objectId, ...record() });
      await world.settle();
      // The Relation's members are looked for when the trigger runs: of a record that is gone there are none.
      const holds = all.map(([where, is]) => (event === 'delete' && 'R' in where ? false : is));
      const fired = await watch(table, event, wheres);
      const act = () =>
        event === 'create'
          ? world.create(table, { objectId, ...record() })
          : event === 'update'
            ? world.update(table, objectId, record())
            : world.remove(table, objectId);
      const writes = { create: made(table), update: changed(table), delete: gone(table) }[event];
      const expected = holds.flatMap((is, at) => (is ? [at] : []));
      const checked = async () => {
        await act();
        await world.settle();
        assert.deepEqual(shown(wheres, await fired()), shown(wheres, expected));
      };
      await world.effects(checked, writes, runs(expected.length, 0));
    });

  test('criteria look at the record after the update, whatever the update sends', async () => {
    const table = await world.place({ n: 'Number', City: 'String' });
    const wheres = [{ n: { $gt: 10 } }, { n: { $lte: 10 } }, { City: 'Haifa', n: { $gt: 10 } }, { City: { $exists: false } }];
    const id = await world.create(table, { n: 9, City: 'Haifa' });
    const fired = await watch(table, 'update', wheres);
    await world.effects(() => world.update(table, id, { Name: 'other' }), changed(table), runs(1, 0));
    assert.deepEqual(await fired(), [1]);
    const act = () => world.update(table, id, { n: { __op: 'Increment', amount: 5 } });
    await world.effects(act, changed(table), runs(2, 0));
    assert.deepEqual(await fired(), [0, 1, 2]);
    await world.effects(() => world.update(table, id, { City: { __op: 'Delete' } }), changed(table), runs(2, 0));
    assert.deepEqual(await fired(), [0, 0, 1, 2, 3]);
  });

  test('criteria of each write are held against the record of that write', async () => {
    const table = await world.place({ n: 'Number' });
    const heard = await world.place({ n: 'Number' });
    await world.trigger({
      table,
      events: ['update'],
      criteria: { n: { $in: [2, 4] } },
      actions: [creates(heard, { n: '{{n}}' })],
    });
    const id = await world.create(table, { n: 0 });
    const path = `/platform/classes/${table}/${id}`;
    const requests = [1, 2, 3, 4, 5, 6].map((n) => ({ method: 'PUT', path, body: { n } }));
    const act = () => world.call('POST', '/platform/batch', { body: { requests } });
    await world.effects(act, changed(table, 6), made(heard, 2), runs(2));
    assert.deepEqual(
      (await world.find(heard)).map(({ n }) => n),
      [2, 4],
    );
  });

  test('web2table: a bare-id array is stored but fails containedIn trigger criteria; getlead with Pointers does not', async () => {
    const list = 'array_tags_Pointer_Tags';
    await world.addFields('Accounts', { [list]: 'Array' });
    const table = await world.place({ [list]: 'Array' });
    const flag = 'AcceptWebToTable';
    await world.create('Config', { Name: flag, Value: on(flag) });
    const criteria = { [list]: { containedIn: [pointer('Tags', hot)] } };
    const heard = await world.place({ From: 'String' });
    for (const from of [table, 'Accounts'])
      await world.trigger({ table: from, events: ['create'], criteria, actions: [creates(heard, { From: from })] });
    const send = async (fn: string, body: object) => assert.equal((await world.send(fn, { body })).status, 200);
    const bare = () => send('web2table', { table, phone: newPhone(), [`table_${list}`]: [hot], [`account_${list}`]: [hot] });
    await world.effects(bare, made(table), made('Accounts'));
    const [stored] = await world.find(table);
    assert.deepEqual(stored[list], [hot]);
    const whole = () => send('getlead', { PhoneNumber: newPhone(), [list]: [pointer('Tags', hot)] });
    await world.effects(whole, made('Accounts'), made(heard), runs());
    const other = () => send('getlead', { PhoneNumber: newPhone(), [list]: [pointer('Tags', cold)] });
    await world.effects(other, made('Accounts'));
    assert.deepEqual(
      (await world.find(heard)).map(({ From }) => From),
      ['Accounts'],
    );
  });

  test('decisions: what other records have a say in is looked at as it is when the trigger runs', async () => {
    const table = await world.place({ Owner: 'Pointer:Tags' });
    const heard = await world.place();
    const criteria = { Owner: { $inQuery: { className: 'Tags', where: { Name: 'vip' } } } };
    await world.trigger({ table, events: ['create', 'update'], criteria, actions: [creates(heard)] });
    const owner = await world.create('Tags', { Name: 'plain' });
    const id = await world.effects(() => world.create(table, { Owner: pointer('Tags', owner) }), made(table));
    await world.update('Tags', owner, { Name: 'vip' });
    await world.effects(() => world.update(table, id, {}), changed(table), made(heard), runs());
  });

  test('decisions: a definition that the schema no longer fits never fails a write', async () => {
    const table = await world.place({ n: 'Number', City: 'String' });
    const heard = await world.place();
    const criteria = { n: { $gte: 5 } };
    const id = await world.trigger({ table, events: ['create'], criteria, actions: [creates(heard)] });
    await world.effects(() => world.create(table, { n: 5 }), made(table), made(heard), runs());
    const drop = { fields: { n: { __op: 'Delete' } } };
    assert.equal((await world.call('PUT', `/platform/schemas/${table}`, { body: drop })).status, 200);
    await world.addFields(table, { n: 'Pointer:Tags' });
    // A constraint whose value cannot be of the field's type matches nothing, or is logged in an error row.
    await world.create(table, { n: pointer('Tags', hot) });
    await world.settle();
    const rows = await world.log({ triggerId: id });
    assert.deepEqual([(await world.find(heard)).length, rows.filter(({ error }) => error === undefined).length], [1, 2]);
  });
}, 'apart');
