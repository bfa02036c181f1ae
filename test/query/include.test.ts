/** include, on queries and on read one. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createEach, defineTable, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';

onEachEngine((get) => {
  const [cities, owners, things] = [tableName('Cities'), tableName('Owners'), tableName('Things')];
  const owner = (id: string) => pointer(owners, id);
  before(async () => {
    await defineTable(get(), cities, { name: 'String', mayor: `Pointer:${owners}` });
    await defineTable(get(), owners, { name: 'String', age: 'Number', city: `Pointer:${cities}`, homes: 'Array' });
    await defineTable(get(), things, { k: 'String', owner: `Pointer:${owners}`, other: `Pointer:${owners}`, seen: 'Array' });
    await createEach(get(), cities, [{ objectId: 'city000001', name: 'Haifa', mayor: owner('owner00002') }]);
    await createEach(get(), owners, [
      {
        objectId: 'owner00001',
        name: 'Ann',
        age: 5,
        city: pointer(cities, 'city000001'),
        homes: [pointer(cities, 'city000001')],
      },
      { objectId: 'owner00002', name: 'Bob', city: pointer(cities, 'nowhere001') },
    ]);
    await createEach(get(), things, [
      {
        objectId: 'thing00001',
        k: 'a',
        owner: owner('owner00001'),
        other: owner('owner00002'),
        seen: [owner('owner00002'), owner('nowhere001'), owner('owner00001'), 'text', 5],
      },
      { objectId: 'thing00002', k: 'b', owner: owner('nowhere001') },
      { objectId: 'thing00003', k: 'c' },
    ]);
  });
  const one = async (query: Row, k = 'a') => {
    const [row] = await find(get(), things, { where: { k }, ...query });
    assert.ok(row);
    return row as any;
  };

  test('Records/Query include: expands the linked record: the full record with __type Object and className', async () => {
    const row = await one({ include: 'owner' });
    assert.equal(row.owner.__type, 'Object');
    assert.equal(row.owner.className, owners);
    const alone = (await get().call('GET', `/platform/classes/${owners}/owner00001`)).body;
    assert.deepEqual(row.owner, { __type: 'Object', className: owners, ...alone });
    assert.deepEqual(row.other, owner('owner00002'));
  });
  test('Records/Query include: without it Pointers stay bare', async () => {
    assert.deepEqual((await one({})).owner, owner('owner00001'));
  });
  test('Records/Read one include: expands the linked record', async () => {
    const answer = await get().call('GET', `/platform/classes/${things}/thing00001`, { query: { include: 'owner,other' } });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.owner.name, answer.body.other.name], ['Ann', 'Bob']);
    assert.equal(answer.body.owner.__type, 'Object');
  });
  test('Records/Query include: a comma list', async () => {
    const row = await one({ include: 'owner,other' });
    assert.deepEqual([row.owner.name, row.other.name], ['Ann', 'Bob']);
  });
  test('Records/Query include: a dotted path includes each level', async () => {
    const row = await one({ include: 'owner.city.mayor' });
    assert.equal(row.owner.name, 'Ann');
    assert.equal(row.owner.city.name, 'Haifa');
    assert.equal(row.owner.city.__type, 'Object');
    assert.equal(row.owner.city.mayor.name, 'Bob');
    assert.deepEqual(row.owner.city.mayor.city, pointer(cities, 'nowhere001'));
  });
  test('Records/Query include: two paths below one Pointer', async () => {
    const row = await one({ include: 'owner.city,owner.homes' });
    assert.equal(row.owner.city.name, 'Haifa');
    assert.equal(row.owner.homes[0].name, 'Haifa');
  });
  test('Records/Query include: Arrays of Pointers, element by element; other elements stay', async () => {
    const { seen } = await one({ include: 'seen' });
    assert.equal(seen.length, 5);
    assert.deepEqual([seen[0].name, seen[0].__type, seen[2].name], ['Bob', 'Object', 'Ann']);
    assert.deepEqual([seen[1], seen[3], seen[4]], [owner('nowhere001'), 'text', 5]);
  });
  test('Records/Query include: a path through an Array of Pointers', async () => {
    const { seen } = await one({ include: 'seen.city' });
    assert.equal(seen[2].city.name, 'Haifa');
    assert.deepEqual(seen[0].city, pointer(cities, 'nowhere001'));
  });
  test('Records/Query include: a dangling Pointer stays a bare Pointer', async () => {
    assert.deepEqual((await one({ include: 'owner' }, 'b')).owner, owner('nowhere001'));
  });
  test('Records/Query include: an absent Pointer stays absent', async () => {
    assert.ok(!('owner' in (await one({ include: 'owner.city' }, 'c'))));
  });
  test('Records/Query include with keys: a dotted key narrows the included record', async () => {
    const row = await one({ include: 'owner', keys: 'k,owner.name' });
    assert.equal(row.k, 'a');
    assert.deepEqual([row.owner.__type, row.owner.objectId, row.owner.name], ['Object', 'owner00001', 'Ann']);
    assert.ok(!('age' in row.owner) && !('other' in row));
  });
  test('Records/Query keys: a dotted key of a Pointer includes its parent', async () => {
    const row = await one({ keys: 'owner.name' });
    assert.equal(row.owner.name, 'Ann');
    assert.ok(!('k' in row));
  });
  test('Records/Query include with keys that leave the Pointer out', async () => {
    assert.ok(!('owner' in (await one({ include: 'owner', keys: 'k' }))));
  });
  for (const query of [{ include: '*' }, { includeAll: 'true' }])
    test(`Records/Query include: ${JSON.stringify(query)} includes all Pointers`, async () => {
      const row = await one(query);
      assert.deepEqual([row.owner.name, row.other.name, row.seen[0].name], ['Ann', 'Bob', 'Bob']);
    });
  test('Records/Query include: a field that is no Pointer, or unknown, changes nothing', async () => {
    assert.deepEqual(await one({ include: 'k,nowhere,nowhere.deeper' }), await one({}));
  });
  test('Records/Query include: records that point at each other do not loop', async () => {
    const row = await one({ include: 'owner.city.mayor.city.mayor' });
    assert.equal(row.owner.city.mayor.name, 'Bob');
  });
  test('Records/Query include: one linked record is expanded in every row that links it', async () => {
    const table = tableName('Links');
    await createEach(get(), table, [{ owner: owner('owner00001') }, { owner: owner('owner00001') }]);
    const rows = await find(get(), table, { include: 'owner' });
    assert.deepEqual(
      rows.map((row) => (row.owner as Row).name),
      ['Ann', 'Ann'],
    );
  });
  test('Records/Query include: where still compares the bare Pointer', async () => {
    const rows = await find(get(), things, { where: { owner: owner('owner00001') }, include: 'owner' });
    assert.equal(rows.length, 1);
  });
  for (const include of ['owner"', 'owner.ci ty', "owner';--"])
    test(`Records/Query include: an ill-formed name is no fault: ${include}`, async () => {
      const answer = await get().call('GET', `/platform/classes/${things}`, { query: { include } });
      assert.ok(answer.status < 500, answer.text);
    });
});
