// Random pipelines, compared with the same stages over plain arrays, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { date, type SalesTable } from './sales.ts';

interface Sale extends JsonObject {
  k: string;
}
interface Row {
  k?: string;
  objectId?: string | null;
  n?: number | null;
  [name: string]: unknown;
}

const sale = fc.record<Sale>(
  {
    k: fc.constantFrom('a', 'b', 'c', 'd'),
    city: fc.constantFrom('x', 'y', 'z'),
    n: fc.integer({ min: -3, max: 3 }),
    tags: fc.array(fc.constantFrom('s', 't'), { maxLength: 3 }),
  },
  { requiredKeys: ['k'] },
);
const field = fc.constantFrom('k', 'city', 'n');
const direction = fc.constantFrom(1, -1);
const comparison = fc.tuple(fc.constantFrom('$gt', '$lte', '$ne', '$eq'), fc.integer({ min: -3, max: 3 }));
const stage: fc.Arbitrary<JsonObject> = fc.oneof(
  comparison.map(([operator, value]) => ({ $match: { n: { [operator]: value } } })),
  fc.tuple(field, direction, field, direction).map(([a, x, b, y]) => ({ $sort: { [a]: x, [b]: y } })),
  fc.nat(6).map((count) => ({ $limit: count })),
  fc.nat(3).map((count) => ({ $skip: count })),
  fc.constant({ $unwind: '$tags' }),
);
const group = fc.constantFrom('$city', '$n', '$k', null).map((_id) => ({
  $group: {
    _id,
    s: { $sum: '$n' },
    a: { $avg: '$n' },
    lo: { $min: '$n' },
    hi: { $max: '$city' },
    f: { $first: '$k' },
    l: { $last: '$n' },
    all: { $push: '$k' },
    c: { $count: {} },
  },
}));

/**
 * Defines the tests.
 * @param table whose records they replace
 * @param runs number of random pipelines
 */
export function testRandomAggregates(table: SalesTable, runs: number): void {
  test('aggregate: random pipelines answer what the stages over plain arrays answer', async () => {
    const property = fc.asyncProperty(
      fc.array(sale, { maxLength: 8 }),
      fc.array(stage, { maxLength: 4 }),
      group,
      async (sales, stages, last) => {
        await table.fill(sales);
        const rows = stages.reduce(apply, sales as Row[]);
        assert.deepEqual(
          await table.pipeline(...stages, { $project: { _id: 0, k: 1, n: 1 } }),
          rows.map(({ k, n }) => (n === undefined ? { k } : { k, n })),
        );
        assert.deepEqual(await table.pipeline(...stages, last), grouped(rows, last.$group._id));
      },
    );
    await fc.assert(property, { numRuns: runs });
  });

  test('aggregate: date parts of any time', async () => {
    const instant = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    const property = fc.asyncProperty(fc.array(instant, { minLength: 1, maxLength: 20 }), async (dates) => {
      await table.fill(dates.map((when) => ({ k: 'a', when: date(when.toISOString()) })));
      const parts = ['$year', '$month', '$dayOfMonth', '$hour', '$minute', '$second', '$dayOfWeek', '$week'].map((part) => ({
        [part]: '$when',
      }));
      const answer = await table.pipeline({ $project: { _id: 0, x: [...parts, '$when'] } });
      assert.deepEqual(
        answer,
        dates.map((when) => ({ x: [...partsOf(when), date(when.toISOString())] })),
      );
    });
    await fc.assert(property, { numRuns: Math.ceil(runs / 3) });
  });
}

function partsOf(when: Date): number[] {
  const startOfYear = new Date(when);
  startOfYear.setUTCMonth(0, 1);
  const dayOfYear = Math.round(Math.floor(when.getTime() / 86_400_000) - Math.floor(startOfYear.getTime() / 86_400_000));
  const week = Math.floor((dayOfYear + 7 - when.getUTCDay()) / 7);
  const day = [when.getUTCFullYear(), when.getUTCMonth() + 1, when.getUTCDate()];
  return [...day, when.getUTCHours(), when.getUTCMinutes(), when.getUTCSeconds(), when.getUTCDay() + 1, week];
}

function apply(rows: Row[], stage: JsonObject): Row[] {
  const [name, spec] = Object.entries(stage)[0] as [string, JsonValue];
  if (name === '$limit') return rows.slice(0, spec as number);
  if (name === '$skip') return rows.slice(spec as number);
  if (name === '$unwind') return rows.flatMap((row) => ((row.tags ?? []) as string[]).map((tags) => ({ ...row, tags: [tags] })));
  if (name === '$match') return rows.filter((row) => holds(row.n, (spec as { n: JsonObject }).n));
  return [...rows].sort((a, b) => {
    for (const [key, direction] of Object.entries(spec as Record<string, number>)) {
      const order = compare(a[key], b[key]) * direction;
      if (order !== 0) return order;
    }
    return 0;
  });
}

function holds(n: number | null | undefined, constraint: JsonObject): boolean {
  const [operator, value] = Object.entries(constraint)[0] as [string, number];
  if (operator === '$ne') return n !== value;
  if (n === undefined || n === null) return false;
  if (operator === '$eq') return n === value;
  return operator === '$gt' ? n > value : n <= value;
}

/** Absent values first. */
function compare(a: unknown, b: unknown): number {
  if (a === b || (a == null && b == null)) return 0;
  if (a == null || b == null) return a == null ? -1 : 1;
  return (a as number) < (b as number) ? -1 : 1;
}

function grouped(rows: Row[], key: string | null): unknown[] {
  const groups = new Map<unknown, Row[]>();
  for (const row of rows) {
    const value = key === null ? null : (row[key.slice(1)] ?? null);
    groups.set(value, [...(groups.get(value) ?? []), row]);
  }
  return [...groups]
    .sort(([a], [b]) => compare(a, b))
    .map(([objectId, members]) => {
      const numbers = members.flatMap(({ n }) => (typeof n === 'number' ? [n] : []));
      const cities = members.flatMap(({ city }) => (typeof city === 'string' ? [city] : [])).sort();
      const s = numbers.reduce((sum, n) => sum + n, 0);
      return {
        objectId,
        s,
        a: numbers.length > 0 ? s / numbers.length : null,
        lo: numbers.length > 0 ? Math.min(...numbers) : null,
        hi: cities.at(-1) ?? null,
        f: members[0]?.k ?? null,
        l: members.at(-1)?.n ?? null,
        all: members.map(({ k }) => k),
        c: members.length,
      };
    });
}
