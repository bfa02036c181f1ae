/** Default: all groups, as far as an answer holds them; with a limit at most 2,000. Reference: tools.md#aggregate-data. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { onEachEngine } from '../engines.ts';
import { setFlag } from '../restored.ts';

onEachEngine('Aggregate-Data', (tools) => {
  const { use, refused, table, create } = tools;
  let name: string;
  const owners: string[] = [];
  before(async () => {
    name = await table({
      City: 'String',
      Total: 'Number',
      paid: 'Boolean',
      when: 'Date',
      extra: 'Object',
      AccountId: { type: 'Pointer', targetClass: 'Accounts' },
    });
    for (const Name of ['Dana', 'Yossi']) owners.push(await create('Accounts', { Name }));
    const to = (at: number) => pointer('Accounts', owners[at] ?? '');
    const rows = [
      { City: 'Haifa', Total: 10, when: date('2026-01-31T21:59:59.999Z'), AccountId: to(0), extra: { size: 2 } },
      { City: 'Haifa', Total: 20, when: date('2026-01-31T22:00:00.000Z'), AccountId: to(0), extra: { size: 3 } },
      { City: 'Eilat', Total: 5, paid: true, when: date('2026-07-31T20:59:59.999Z'), AccountId: to(1) },
      { City: 'Eilat', paid: false, when: date('2026-07-31T21:00:00.000Z') },
      { Total: 7, AccountId: pointer('Accounts', 'gone000000') },
    ];
    for (const row of rows) await create(name, row);
  });
  const rows = async (args: object): Promise<Json[]> => (await use('Aggregate-Data', { table: name, ...args })).results;

  test('the number of records, unless metrics say otherwise', async () => {
    assert.deepEqual(await use('Aggregate-Data', { table: name }), { results: [{ count: 5 }] });
    assert.deepEqual(await rows({ where: { City: 'Haifa' } }), [{ count: 2 }]);
    assert.deepEqual(await rows({ groupBy: ['City'] }), [
      { City: null, count: 1 },
      { City: 'Eilat', count: 2 },
      { City: 'Haifa', count: 2 },
    ]);
  });

  test('metrics by their names', async () => {
    const metrics = [
      { op: 'count', field: 'Total' },
      { op: 'sum', field: 'Total' },
      { op: 'avg', field: 'Total', as: 'mean' },
      { op: 'min', field: 'when' },
      { op: 'max', field: 'Total' },
    ];
    assert.deepEqual(
      await rows({ groupBy: ['City'], metrics, where: { City: { $exists: true } }, order: '-City' }),
      [
        {
          City: 'Haifa',
          count_Total: 2,
          sum_Total: 30,
          mean: 15,
          min_when: date('2026-01-31T21:59:59.999Z'),
          max_Total: 20,
        },
        { City: 'Eilat', count_Total: 1, sum_Total: 5, mean: 5, min_when: date('2026-07-31T20:59:59.999Z'), max_Total: 5 },
      ].map((row) => ({ ...row, ...(row.City === 'Haifa' && { count_Total: 2 }) })),
    );
    assert.deepEqual(await rows({ metrics: [{ op: 'sum', field: 'extra.size' }] }), [{ sum_extra_size: 5 }]);
  });

  test('of no records a sum is 0 and there is no average', async () => {
    const metrics = [{ op: 'count' }, { op: 'sum', field: 'Total' }, { op: 'avg', field: 'Total' }];
    assert.deepEqual(await rows({ metrics, where: { City: 'Nowhere' } }), [{ count: 0, sum_Total: 0, avg_Total: null }]);
    assert.deepEqual(await rows({ metrics, groupBy: ['City'], where: { City: 'Nowhere' } }), []);
  });

  test('Pointers come with the names of what they point at', async () => {
    const found = await rows({ groupBy: ['AccountId'], order: '-count' });
    assert.deepEqual(found[0], { AccountId: { objectId: owners[0], Name: 'Dana' }, count: 2 });
    assert.ok(found.some(({ AccountId }) => AccountId?.objectId === 'gone000000' && AccountId.Name === undefined));
    assert.ok(found.some(({ AccountId }) => AccountId === null));
  });

  test('having and order speak of metrics, with where’s operators', async () => {
    const metrics = [{ op: 'sum', field: 'Total', as: 'sum' }];
    assert.deepEqual(await rows({ groupBy: ['City'], metrics, having: { sum: { $gt: 5 } }, order: '-sum' }), [
      { City: 'Haifa', sum: 30 },
      { City: null, sum: 7 },
    ]);
    const either = { $or: [{ sum: 5 }, { sum: { $gte: 30 } }] };
    assert.deepEqual(await rows({ groupBy: ['City'], metrics, having: either, order: 'sum' }), [
      { City: 'Eilat', sum: 5 },
      { City: 'Haifa', sum: 30 },
    ]);
    assert.deepEqual(await rows({ metrics, having: { sum: { $gt: 100 } } }), []);
  });

  test('buckets of a day, week, month, quarter and year, in the system’s time zone', async (t) => {
    const buckets = async (dateBucket: string) =>
      (await use('Aggregate-Data', { table: name, groupBy: ['when'], dateBucket, where: { when: { $exists: true } } })) as Json;
    const keys = ({ results }: Json) => results.map((row: Json) => `${row.when}: ${row.count}`);
    const utc = await buckets('month');
    assert.deepEqual([keys(utc), utc.timeZone], [['2026-01: 2', '2026-07: 2'], 'UTC']);
    await setFlag(t, tools, 'TimeZone', 'Asia/Jerusalem');
    const expected: [string, string[]][] = [
      ['day', ['2026-01-31: 1', '2026-02-01: 1', '2026-07-31: 1', '2026-08-01: 1']],
      ['week', ['2026-01-25: 1', '2026-02-01: 1', '2026-07-26: 2']],
      ['month', ['2026-01: 1', '2026-02: 1', '2026-07: 1', '2026-08: 1']],
      ['quarter', ['2026-Q1: 2', '2026-Q3: 2']],
      ['year', ['2026: 4']],
    ];
    for (const [bucket, counts] of expected) {
      const answer = await buckets(bucket);
      assert.deepEqual([keys(answer), answer.timeZone], [counts, 'Asia/Jerusalem'], bucket);
    }
    const both = await rows({ groupBy: ['City', 'when'], dateBucket: 'year', order: '-City,when' });
    assert.deepEqual(both.at(0), { City: 'Haifa', when: '2026', count: 2 });
    assert.deepEqual(both.at(-1), { City: null, when: null, count: 1 });
  });

  test('buckets over a century and before 1970', async (t) => {
    const old = await table({ when: 'Date' });
    for (const day of ['1899-12-31', '1969-12-28', '1969-12-31', '1970-01-01', '2099-12-31'])
      await create(old, { when: date(`${day}T12:00:00.000Z`) });
    await setFlag(t, tools, 'TimeZone', 'America/New_York');
    const keys = async (dateBucket: string) => {
      const { results } = await use('Aggregate-Data', { table: old, groupBy: ['when', 'createdAt'], dateBucket });
      return results.map((row: Json) => row.when);
    };
    assert.deepEqual(await keys('day'), ['1899-12-31', '1969-12-28', '1969-12-31', '1970-01-01', '2099-12-31']);
    assert.deepEqual(await keys('week'), ['1899-12-31', '1969-12-28', '2099-12-27']);
    assert.deepEqual(await keys('quarter'), ['1899-Q4', '1969-Q4', '1970-Q1', '2099-Q4']);
  });

  test('limit: fewer groups, and that there are more', async () => {
    const answer = await use('Aggregate-Data', { table: name, groupBy: ['City'], limit: 2 });
    assert.deepEqual([answer.results.length, answer.truncated], [2, true]);
    assert.equal((await use('Aggregate-Data', { table: name, groupBy: ['City'], limit: 3 })).truncated, undefined);
    assert.deepEqual(await use('Aggregate-Data', { table: name, groupBy: ['City'], limit: 0 }), { results: [] });
  });

  test('all groups without a limit, as far as an answer holds; 2,000 at the most with one', async () => {
    const many = await table({ n: 'Number' });
    const data = Array.from({ length: 1_000 }, (_, n) => ({ n }));
    for (const from of [0, 1_000, 2_000])
      await use('Create-Many', {
        table: many,
        data: data.slice(0, from === 2_000 ? 1 : 1_000).map(({ n }) => ({ n: n + from })),
      });
    const answer = await use('Aggregate-Data', { table: many, groupBy: ['n'] });
    assert.deepEqual([answer.results.length, answer.truncated], [2_001, undefined]);
    const most = await use('Aggregate-Data', { table: many, groupBy: ['n'], limit: 2_000 });
    assert.deepEqual([most.results.length, most.truncated], [2_000, true]);
    const wide = await use('Aggregate-Data', { table: many, groupBy: ['n', 'objectId'] });
    assert.ok(wide.truncated && wide.results.length > 500 && bytesOf(wide) <= MAX_BYTES);
    assert.deepEqual(
      await use('Aggregate-Data', { table: many, groupBy: ['n'], where: { n: { $lt: 2_000 } }, having: { count: 2 } }),
      { results: [] },
    );
  });

  test('wrong arguments', async () => {
    const bad = (args: object, words: RegExp) => refused('Aggregate-Data', { table: name, ...args }, 107, words);
    await bad({ limit: 2_001 }, /limit must be at most 2000/);
    await bad({ groupBy: ['Nope'] }, /groupBy: \S+ has no field Nope/);
    await bad({ groupBy: ['City', 'City'] }, /groupBy names a field twice/);
    await bad({ groupBy: 'City' }, /groupBy must be of type array/);
    await bad({ metrics: [{ op: 'median', field: 'Total' }] }, /metrics\[0\]\.op must be one of count, sum/);
    await bad({ metrics: [{ op: 'sum' }] }, /metrics\[0\]\.field is required/);
    await bad({ metrics: [{ op: 'sum', field: 'City' }] }, /sum takes a Number, City is of type String/);
    await bad({ metrics: [{ op: 'sum', field: 'Nope' }] }, /has no field Nope/);
    await bad({ metrics: [{ op: 'count', as: 'a b' }] }, /as must be a name/);
    await bad({ metrics: [{ op: 'count' }, { op: 'count' }] }, /the name count is taken/);
    await bad({ metrics: [{ op: 'count', as: 'City' }], groupBy: ['City'] }, /the name City is taken/);
    await bad({ metrics: [{ op: 'count', filter: {} }] }, /metrics\[0\]\.filter is unknown/);
    await bad({ metrics: [] }, /metrics must not be empty/);
    await bad({ having: { Total: { $gt: 1 } } }, /having: Total is not a metric/);
    await bad({ groupBy: ['City'], order: 'Total' }, /order: Total is neither/);
    await bad({ dateBucket: 'decade', groupBy: ['when'] }, /dateBucket must be one of day, week/);
    await bad({ dateBucket: 'day', groupBy: ['City'] }, /dateBucket needs a Date field/);
    await refused('Aggregate-Data', { table: name, where: { n: { $near: 1 } } }, 102, /near/);
    await refused('Aggregate-Data', { table: name, having: { count: { $near: 1 } } }, 102, /near/);
    const nested = (levels: number): Json => (levels === 0 ? 1 : [nested(levels - 1)]);
    assert.deepEqual(await rows({ having: { count: { $in: nested(96) } } }), []);
    await bad({ having: { count: { $in: nested(97) } } }, /nested too deep/);
  });
});
