/** The matrix: every way of reading. */
import assert from 'node:assert/strict';
import {
  type Action,
  assertDone,
  assertRefused,
  denied,
  isRefused,
  type Refused,
  reaches,
  rightTo,
} from '../support/permissions.ts';
import { type Json, pointer } from '../support/records.ts';
import { ks, type Seat, verdict } from './seat.ts';
import type { Row } from './world.ts';

/** Reads each record by its id. */
export async function readOne(seat: Seat): Promise<void> {
  const { call, table } = seat;
  await Promise.all(
    table.rows.map(async (row) => {
      const answer = await call('GET', `/platform/classes/${table.name}/${row.objectId}`);
      const expected = verdict(seat, 'get', 'read', row);
      if (expected === 'reached') assert.equal(assertDone(answer, 200, `get ${row.k}`).k, row.k);
      else assertRefused(answer, expected, `get ${row.k}`);
    }),
  );
}

/** Returns the rows that the caller finds and counts, or the refusal. */
function found({ caller, table }: Seat, actions: readonly Action[]): string[] | Refused {
  let rows: readonly Row[] = table.rows;
  for (const action of actions) {
    const right = rightTo(caller, action, table);
    if (isRefused(right)) return right;
    rows = rows.filter((row) => reaches(caller, right, 'read', row));
  }
  return ks(rows);
}

/** Reads lists, counts and aggregations. */
export async function readMany(seat: Seat): Promise<void> {
  const { call, caller, table } = seat;
  const list = async (what: string, query: Record<string, unknown>, actions: readonly Action[] = ['find']) => {
    const answer = await call('GET', `/platform/classes/${table.name}`, { query });
    const expected = found(seat, actions);
    if ('code' in expected) assertRefused(answer, expected, what);
    else return { expected, ...assertDone(answer, 200, what) } as Json;
  };
  const plain = await list('find', {});
  if (plain) assert.deepEqual(ks(plain.results), plain.expected);
  const ordered = await list('find in order', { order: '-k', keys: 'k' });
  if (ordered)
    assert.deepEqual(
      ordered.results.map((row: Row) => row.k),
      [...ordered.expected].reverse(),
    );
  const counted = await list('find and count', { count: 1, limit: 1 }, ['find', 'count']);
  if (counted) assert.equal(counted.count, counted.expected.length);
  const count = await list('count', { count: 1, limit: 0 }, ['count']);
  if (count) assert.deepEqual([count.count, count.results], [count.expected.length, []]);

  const pipeline = [{ $group: { _id: null, n: { $sum: 1 }, all: { $push: '$k' } } }];
  const answer = await call('GET', `/platform/classes-aggregate/${table.name}`, { query: { pipeline } });
  const expected = caller.kind === 'anonymous' ? denied('find', table.name) : found(seat, ['find']);
  if ('code' in expected) assertRefused(answer, expected, 'aggregate');
  else {
    const [{ n, all }] = [...assertDone(answer, 200, 'aggregate').results, { n: 0, all: [] }];
    assert.deepEqual([n, all.sort()], [expected.length, expected]);
  }
}

/** Reads through the other table, whose records are readable to all and point at each record of this one. */
export async function readThrough(seat: Seat): Promise<void> {
  const { call, caller, table } = seat;
  if (caller.kind === 'wrong') {
    assertRefused(await call('GET', `/platform/classes/${table.probe}`), denied('find', table.probe), 'a wrong key');
    return;
  }
  const inQuery = { className: table.name, where: {} };
  const select = { query: { className: table.name }, key: 'k' };
  const visible = found(seat, ['find']);
  const seen = new Set('code' in visible ? [] : visible);
  const conditions: [string, object, (k: string) => boolean][] = [
    ['$inQuery', { to: { $inQuery: inQuery } }, (k) => seen.has(k)],
    ['$notInQuery', { to: { $notInQuery: inQuery } }, (k) => !seen.has(k)],
    ['a name through the Pointer', { 'to.k': { $exists: true } }, (k) => seen.has(k)],
    ['one that is denied', { $nor: [{ 'to.objectId': { $exists: true } }] }, (k) => !seen.has(k)],
    ['$select', { k: { $select: select } }, (k) => seen.has(k)],
    ['$dontSelect', { k: { $dontSelect: select } }, (k) => !seen.has(k)],
  ];
  for (const [what, where, matches] of conditions) {
    const answer = await call('GET', `/platform/classes/${table.probe}`, { query: { where } });
    if ('code' in visible) assertRefused(answer, visible, what);
    else assert.deepEqual(ks(assertDone(answer, 200, what).results), ks(table.rows).filter(matches), what);
  }
  const ordered = await call('GET', `/platform/classes/${table.probe}`, { query: { order: '-to.k,k', keys: 'k' } });
  if ('code' in visible) assertRefused(ordered, visible, 'order through the Pointer');
  else {
    const hidden = ks(table.rows).filter((k) => !seen.has(k));
    const expected = [...visible.toReversed(), ...hidden.toSorted()];
    assert.deepEqual(
      assertDone(ordered, 200, 'order through the Pointer').results.map((row: Row) => row.k),
      expected,
    );
  }
  const included = await call('GET', `/platform/classes/${table.probe}`, { query: { include: 'to' } });
  for (const { k, to } of assertDone(included, 200, 'include').results) {
    const row = table.rows.find((one) => one.k === k) as Row;
    if (verdict(seat, 'get', 'read', row) === 'reached') assert.equal(to.k, k, `include ${k}`);
    else assert.deepEqual(to, pointer(table.name, row.objectId), `include ${k}`);
  }
  for (const row of table.rows.filter((_, at) => at % 5 === 0)) {
    const where = { $relatedTo: { object: pointer(table.name, row.objectId), key: 'rel' } };
    const answer = await call('GET', `/platform/classes/${table.probe}`, { query: { where } });
    const right = rightTo(caller, 'get', table);
    if (isRefused(right)) assertRefused(answer, right, '$relatedTo');
    else {
      const members = reaches(caller, right, 'read', row) ? [row.k] : [];
      assert.deepEqual(ks(assertDone(answer, 200, '$relatedTo').results), members, `$relatedTo ${row.k}`);
    }
  }
}
