import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowGuard } from '../../../access/index.ts';
import type { Query } from '../../../query/model/selection.ts';
import { rowWriter } from '../../../values/rows/encode.ts';
import { includePositions, rowShape } from '../row-layout.ts';
import { compileByIds, compileCount, compileCountUpTo, compileGet, compileList } from '../select.ts';
import { rowContext } from './addresses.ts';
import type { EngineTables } from './tables.ts';

const pointer = (objectId: string) => ({ __type: 'Pointer', className: '_User', objectId });
/** Defines the tests of lists and single records that both engines pass. */
export async function testSelections(tables: EngineTables): Promise<void> {
  const { dialect } = tables;
  await tables.make('T', {
    pay: 'Number',
    paid: 'Boolean',
    owner: 'Pointer:_User',
    team: 'Array',
    o: 'Object',
    friends: 'Relation:_User',
  });
  await tables.add('T', { objectId: 'a', pay: 1, paid: true, owner: pointer('u1'), o: { x: 1, y: 2 } });
  await tables.add('T', { objectId: 'b', pay: 2, paid: false, owner: pointer('u2'), team: [pointer('u1')], o: { x: 3 } });
  await tables.add('T', { objectId: 'c', pay: 3, paid: true, ACL: { u1: { read: true } } });

  const held = (...fields: string[]): RowGuard => ({ kind: 'userFields', fields, userId: 'u1' });
  const hidden = ['pay', 'paid', 'owner', 'o', 'friends'];

  /** Returns a query for all records whose fields are visible in some of them. */
  function query(visibleIn: RowGuard | undefined, more: Partial<Query> = {}): Query {
    const table = tables.table('T');
    const fields = ['objectId', ...hidden].map((name) => tables.field('T', name));
    const shown = visibleIn ? { visibleIn: new Map(hidden.map((name) => [name, visibleIn])) } : {};
    const page = { order: [], skip: 0, limit: 10, count: false, withScore: false };
    return { table, fields, filter: { kind: 'always' }, includes: [], ...page, ...shown, ...more };
  }

  async function run(visibleIn: RowGuard | undefined, more: Partial<Query> = {}): Promise<Record<string, unknown>[]> {
    const asked = query(visibleIn, more);
    const write = rowWriter(rowShape(asked, rowContext, false));
    return (await tables.run(compileList(asked, tables.dialect, false))).map((row) => JSON.parse(write(row)));
  }

  /** Lists fields in order, since a Relation that only some records show is among the others. */
  const showing = (records: Record<string, unknown>[]) =>
    records.map(({ objectId, ...fields }) => `${objectId}:${Object.keys(fields).sort().join(',')}`).join(' ');
  const ofA = 'friends,o,owner,paid,pay';

  const cases: [sentence: string, visibleIn: RowGuard | undefined, shown: string][] = [
    ['everywhere', undefined, `a:${ofA} b:${ofA} c:friends,paid,pay`],
    ['where a Pointer holds the user', held('owner'), `a:${ofA} b: c:`],
    ['where an Array holds the user', held('team'), `a: b:${ofA} c:`],
    ['where one of them does', held('owner', 'team'), `a:${ofA} b:${ofA} c:`],
    ['where none does', { kind: 'not', guard: held('owner', 'team') }, 'a: b: c:friends,paid,pay'],
    ['where a field that is gone does', held('nowhere', 'pay'), 'a: b: c:'],
    ['in one record', { kind: 'record', objectId: 'b' }, `a: b:${ofA} c:`],
    [
      'in one record or those that hold the user',
      { kind: 'any', guards: [{ kind: 'record', objectId: 'c' }, held('owner')] },
      `a:${ofA} b: c:friends,paid,pay`,
    ],
  ];
  for (const [sentence, visibleIn, shown] of cases)
    test(`fields are shown ${sentence}`, async () => assert.equal(showing(await run(visibleIn)), shown));

  test('a shown field has the same form as ever', async () => {
    const [everywhere] = await run(undefined);
    assert.deepEqual((await run(held('owner')))[0], everywhere);
    const paths = new Map([['o', [['y']]]]);
    assert.deepEqual(
      (await run(held('owner'), { paths })).map(({ o }) => o),
      [{ y: 2 }, undefined, undefined],
    );
  });

  test('the order, the page and the conditions of the query stand beside those of its fields', async () => {
    const pay = { field: tables.field('T', 'pay'), path: [] };
    const order = [{ kind: 'field', ref: pay, descending: true }] as const;
    const filter = { kind: 'compare', field: pay.field, op: 'lt', value: 3 } as const;
    assert.equal(showing(await run(held('owner'), { order, filter })), `b: a:${ofA}`);
    assert.equal(showing(await run(held('owner'), { order, filter, skip: 1, limit: 1 })), `a:${ofA}`);
  });

  test('ids find their place among the values of conditions and filter', async () => {
    const acl: RowGuard = { kind: 'acl', right: 'read', identities: ['*'] };
    for (const visibleIn of [undefined, held('owner', 'team')]) {
      const selection = query(visibleIn, { filter: { kind: 'guard', guard: acl, table: tables.table('T') } });
      const write = rowWriter(rowShape(selection, rowContext, false));
      const get = compileGet(selection, dialect);
      const one = async (id: string) =>
        (await tables.run({ text: get.text, params: get.params.with(get.idsAt, id) })).map((row) => JSON.parse(write(row)));
      assert.equal(showing(await one('b')), `b:${ofA}`);
      assert.deepEqual([await one('c'), await one('d')], [[], []]);
      const byIds = compileByIds(selection, dialect);
      const params = byIds.params.with(byIds.idsAt, dialect.list(['c', 'b', 'a', 'x']));
      const found = (await tables.run({ text: byIds.text, params })).map((row) => JSON.parse(write(row)));
      assert.equal(showing(found), `a:${ofA} b:${ofA}`);
    }
  });

  test('an include finds no value to expand where its field is hidden', async () => {
    const include = { field: tables.field('T', 'owner'), target: null };
    const selection = query(held('owner'), { includes: [include] });
    const [{ position } = { position: -1 }] = includePositions(selection);
    assert.deepEqual(
      (await tables.run(compileList(selection, dialect, false))).map((row) => row[position]),
      ['u1', null, null],
    );
  });

  test('a count that stops', async () => {
    const counted = async (atMost: number) => (await tables.run(compileCountUpTo(query(undefined), atMost, dialect)))[0]?.[0];
    assert.deepEqual([await counted(1), await counted(5)], [2, 3]);
    const rows = await tables.run(compileCount(query(undefined), dialect, true));
    assert.deepEqual(rows[0]?.[0], 3);
  });
}
