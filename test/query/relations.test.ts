/** $relatedTo and constraints on Relation fields. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  assertError,
  createEach,
  defineTable,
  findNames,
  onEachEngine,
  pointer,
  type Row,
  tableName,
  whereCases,
} from '../support/query.ts';

onEachEngine((get) => {
  const teams = tableName('Teams');
  const people = tableName('People');
  const person = (id: string) => pointer(people, id);
  const related = (id: string, key = 'members') => ({ $relatedTo: { object: pointer(teams, id), key } });
  before(async () => {
    await defineTable(get(), people, { k: 'String', n: 'Number' });
    await defineTable(get(), teams, { k: 'String', members: `Relation:${people}` });
    await createEach(get(), people, [
      { objectId: 'person0001', k: 'p1', n: 1 },
      { objectId: 'person0002', k: 'p2', n: 2 },
      { objectId: 'person0003', k: 'p3', n: 3 },
    ]);
    const members = (...ids: string[]) => ({ members: { __op: 'AddRelation', objects: ids.map(person) } });
    await createEach(get(), teams, [
      { objectId: 'team000001', k: 'a', ...members('person0001', 'person0002') },
      { objectId: 'team000002', k: 'b', ...members('person0002', 'person0003') },
      { objectId: 'team000003', k: 'c' },
    ]);
  });
  whereCases(get, 'Records/Query $relatedTo', people, [
    ['the members of a relation', related('team000001'), 'p1 p2'],
    ['combined with another constraint', { ...related('team000001'), n: { $gt: 1 } }, 'p2'],
    ['an owner without members', related('team000003'), ''],
    ['an owner that does not exist', related('nowhere001'), ''],
    ['under $or', { $or: [related('team000001'), { k: 'p3' }] }, 'p1 p2 p3'],
    ['under $and', { $and: [related('team000001'), related('team000002')] }, 'p2'],
    ['a key that is no relation', related('team000001', 'nothing'), ''],
  ]);
  whereCases(get, 'Records/Query Relation', teams, [
    ['a full Pointer finds the owners that have that member', { members: person('person0002') }, 'a b'],
    ['a member of one owner', { members: person('person0001') }, 'a'],
    ['a member of none', { members: person('person0009') }, ''],
    ['$in', { members: { $in: [person('person0001'), person('person0003')] } }, 'a b'],
    ['$ne', { members: { $ne: person('person0001') } }, 'b c'],
    ['$nin', { members: { $nin: [person('person0001'), person('person0003')] } }, 'c'],
    ['$inQuery: a member matches', { members: { $inQuery: { className: people, where: { n: { $gte: 3 } } } } }, 'b'],
    ['$notInQuery: no member matches', { members: { $notInQuery: { className: people, where: { n: { $gte: 3 } } } } }, 'a c'],
    ['$inQuery into another table', { members: { $inQuery: { className: teams, where: {} } } }, ''],
  ]);

  test('Records/Query $relatedTo: order, limit and count work on members', async () => {
    const query: Row = { where: related('team000002'), order: '-n', limit: 1, count: 1 };
    const answer = await get().call('GET', `/platform/classes/${people}`, { query });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.count, answer.body.results.map((row: Row) => row.k)], [2, ['p3']]);
  });

  test('Records/Query $relatedTo: a removed member is no longer found', async () => {
    const path = `/platform/classes/${teams}/team000003`;
    await get().call('PUT', path, { body: { members: { __op: 'AddRelation', objects: [person('person0001')] } } });
    assert.deepEqual(await findNames(get(), people, { where: related('team000003') }), ['p1']);
    await get().call('PUT', path, { body: { members: { __op: 'RemoveRelation', objects: [person('person0001')] } } });
    assert.deepEqual(await findNames(get(), people, { where: related('team000003') }), []);
  });

  for (const [sentence, value] of [
    ['without object', { key: 'members' }],
    ['without key', { object: pointer('Teams', 'team000001') }],
    ['that is no object', 'x'],
    ['with a key that is no name', { object: pointer('Teams', 'team000001'), key: 'a"b' }],
  ] as const)
    test(`Records/Query $relatedTo: ${sentence} is a 400`, async () => {
      const answer = await get().call('GET', `/platform/classes/${people}`, { query: { where: { $relatedTo: value } } });
      assert.ok([102, 105, 107].includes(answer.body?.code), answer.text);
      assertError(answer, 400, answer.body.code);
    });
});
