import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import { deleteRecord } from '../../records/index.ts';
import { SchemaChanged } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import type { StoredValue } from '../../values/index.ts';
import type { Trigger, TriggerEvent } from '../model/model.ts';
import { makeWorld, triggerOf, type World } from '../testing/world.ts';
import { fires, type SnapshotRecord } from './conditions.ts';

const pointer = (className: string, objectId: string): JsonObject => ({ __type: 'Pointer', className, objectId });

let world: World;
let account: string;
let id: string;
before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
  account = await world.create('Accounts', { Name: 'Account', City: 'Haifa' });
  id = await world.create('Probes', {
    Name: 'one',
    Count: 5,
    Flag: true,
    When: { __type: 'Date', iso: '2024-01-01T00:00:00.000Z' },
    AccountId: pointer('Accounts', account),
    Tags: ['a'],
    Data: { a: 1, b: { c: 2 } },
    Members: { __op: 'AddRelation', objects: [pointer('Accounts', account)] },
  });
});
after(() => world.close());

const snapshotWith = (values: Record<string, StoredValue> = {}, objectId = id): SnapshotRecord => ({
  className: 'Probes',
  objectId,
  valueOf: ({ name }) => (Object.hasOwn(values, name) ? (values[name] as StoredValue) : null),
});
const asked = (
  trigger: Partial<Trigger>,
  record: SnapshotRecord,
  {
    event = 'update',
    before = null,
    sent = [],
  }: { event?: TriggerEvent; before?: SnapshotRecord | null; sent?: readonly string[] } = {},
) =>
  fires(
    world.system,
    triggerOf({ table: 'Probes', events: new Set(['create', 'update', 'delete', 'schedule']), ...trigger }),
    event,
    record,
    before,
    sent,
  );

test('without criteria it fires; not for another table or event than its own as it is now', async () => {
  assert.equal(await asked({}, snapshotWith()), true);
  assert.equal(await asked({ table: 'Sales' }, snapshotWith()), false);
  assert.equal(await asked({ events: new Set(['create']) }, snapshotWith()), false);
});

test('a schedule has chosen already', async () => {
  assert.equal(
    await asked({ criteria: { Name: 'other' }, changedFields: ['Name'] }, snapshotWith(), { event: 'schedule' }),
    true,
  );
});

test('criteria are of the snapshot, not of the record as it is now', async () => {
  for (const [criteria, values, expected] of [
    [{ Name: 'two' }, { Name: 'two' }, true],
    [{ Name: 'one' }, { Name: 'two' }, false],
    [{ Count: { $gte: 6 }, Flag: false }, { Count: 6, Flag: false }, true],
    [{ $or: [{ Count: 1 }, { 'Data.b.c': 3 }] }, { Data: '{"b":{"c":3}}' }, true],
    [{ Tags: { $in: ['b', 'c'] } }, { Tags: '["c"]' }, true],
    [{ Name: null }, {}, true],
    [{ When: { $lt: { __type: 'Date', iso: '2024-01-01T00:00:00.000Z' } } }, { When: 1_000 }, true],
    [{ AccountId: pointer('Accounts', 'x') }, { AccountId: 'x' }, true],
  ] as const)
    assert.equal(await asked({ criteria: criteria as never }, snapshotWith(values)), expected, JSON.stringify(criteria));
});

test('what other records have a say in is asked of the store', async () => {
  const inQuery = (City: string) => ({ AccountId: { $inQuery: { className: 'Accounts', where: { City } } } });
  const of = snapshotWith({ Name: 'one', AccountId: account });
  assert.equal(await asked({ criteria: inQuery('Haifa') }, of), true);
  assert.equal(await asked({ criteria: inQuery('Eilat') }, of), false);
  assert.equal(await asked({ criteria: { $and: [inQuery('Haifa'), { Name: 'two' }] } }, of), false);
  assert.equal(
    await asked({ criteria: { AccountId: { $notInQuery: { className: 'Accounts', where: { City: 'Haifa' } } } } }, of),
    false,
  );
  assert.equal(await asked({ criteria: { Members: pointer('Accounts', account) } }, of), true);
  assert.equal(await asked({ criteria: { Members: pointer('Accounts', 'x') } }, of), false);
  assert.equal(
    await asked({ criteria: { Name: { $select: { query: { className: 'Accounts', where: {} }, key: 'Name' } } } }, of),
    false,
  );
  await assert.rejects(asked({ criteria: { Name: { $regex: '(?=on)one' } } }, of), { key: 'invalidTrigger' });
});

test('a Pointer of a record that is gone is asked for all the same', async () => {
  const gone = await world.create('Probes', {});
  await deleteRecord(world.master, 'Probes', gone, {});
  const of = snapshotWith({ AccountId: account }, gone);
  const where = (City: string) => ({ AccountId: { $inQuery: { className: 'Accounts', where: { City } } } });
  assert.equal(await asked({ criteria: where('Haifa') }, of, { event: 'delete' }), true);
  assert.equal(await asked({ criteria: where('Eilat') }, of, { event: 'delete' }), false);
  assert.equal(await asked({ criteria: where('Haifa') }, snapshotWith({}, gone), { event: 'delete' }), false);
});

test('changedFields compares values', async () => {
  const same = { Name: 'one', Count: 5, Flag: true, When: 0, Tags: '["a"]', Data: '{"a":1,"b":{"c":2}}', AccountId: 'a' };
  for (const [changedFields, after, expected] of [
    [['Name'], {}, false],
    [['Name'], { Name: 'two' }, true],
    [['Name'], { Name: null }, true],
    [['Name'], { Count: 6 }, false],
    [['Name', 'Count'], { Count: 6 }, true],
    [['Flag'], { Flag: false }, true],
    [['When'], { When: 1 }, true],
    [['AccountId'], { AccountId: 'b' }, true],
    [['Data'], { Data: '{"b":{"c":2},"a":1}' }, false],
    [['Data.a'], { Data: '{"a":1,"b":{"c":3}}' }, true],
    [['Tags'], { Tags: '["a","b"]' }, true],
    [['Tags'], { Tags: null }, true],
    [[], {}, true],
  ] as const)
    assert.equal(
      await asked({ changedFields }, snapshotWith({ ...same, ...after }), { before: snapshotWith(same) }),
      expected,
      JSON.stringify([changedFields, after]),
    );
  assert.equal(await asked({ changedFields: ['Name'] }, snapshotWith(same), { event: 'create' }), true);
  assert.equal(await asked({ changedFields: ['Name'] }, snapshotWith(same)), true);
});

test('a changed field that is gone is an error, whatever else has changed', async () => {
  const before = snapshotWith({ Name: 'one' });
  for (const name of ['Nothing', 'constructor'])
    await assert.rejects(asked({ changedFields: ['Name', name] }, snapshotWith({ Name: 'two' }), { before }), {
      code: 107,
      message: `Invalid trigger: changedFields names no field of Probes: ${name}`,
    });
  assert.equal(await asked({ changedFields: ['Nothing'] }, snapshotWith(), { event: 'create' }), true);
  const gone = { ...snapshotWith(), className: 'Gone' };
  await assert.rejects(asked({ table: 'Gone', changedFields: ['Name'] }, gone, { before }), { key: 'classMissing' });
});

test('a Relation has changed where it was sent', async () => {
  const before = snapshotWith();
  assert.equal(await asked({ changedFields: ['Members'] }, snapshotWith(), { before, sent: ['Members'] }), true);
  assert.equal(await asked({ changedFields: ['Members'] }, snapshotWith(), { before, sent: ['Other'] }), false);
});

test('both have to hold', async () => {
  const before = snapshotWith({ Name: 'one' });
  const of = { changedFields: ['Name'], criteria: { Name: 'two' } };
  assert.equal(await asked(of, snapshotWith({ Name: 'two' }), { before }), true);
  assert.equal(await asked(of, snapshotWith({ Name: 'three' }), { before }), false);
});

test('criteria that the schema no longer fits are an error of the catalogue', async () => {
  await assert.rejects(asked({ criteria: { $text: { $search: { $term: 'a' } } } }, snapshotWith()), { name: 'ServiceError' });
  const gone = { ...snapshotWith(), className: 'Gone' };
  await assert.rejects(asked({ table: 'Gone', criteria: { Name: 'a' } }, gone), { key: 'classMissing' });
  assert.equal(await asked({ table: 'Gone' }, gone), true);
});

test('a schema that changes under a read is read again', async () => {
  const { reader } = world.store;
  const find = reader.find.bind(reader);
  let turns = 0;
  reader.find = (query) => (turns++ === 0 ? Promise.reject(new SchemaChanged()) : find(query));
  try {
    assert.equal(await asked({ criteria: { Members: pointer('Accounts', account) } }, snapshotWith()), true);
    assert.equal(turns, 2);
  } finally {
    reader.find = find;
  }
});
