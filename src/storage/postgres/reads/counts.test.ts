import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import { newTable } from '../../../schema/defaults.ts';
import type { Field } from '../../../schema/model.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { Counts } from './counts.ts';

const city: Field = { name: 'City', type: 'String', column: 'City' };
const table = { ...newTable('T', 't_T'), indexes: new Map([['byCity', { name: 'byCity', keys: [['City', 1] as const] }]]) };
const where = (filter: Filter): Query =>
  ({ table, filter, fields: [], includes: [], order: [], count: true }) as unknown as Query;
const ofCity = (value: string) => where({ kind: 'compare', field: city, op: 'eq', value });

test('up to a thousand records of an index are counted by a short read; beyond, soon no longer in vain', async () => {
  const numbers = new Map([
    ['few', 1_000],
    ['many', 1_001],
  ]);
  const sent: string[] = [];
  const counts = new Counts(postgresDialect('rds_t'), async ({ text, params }, short) => {
    const isBounded = text.includes('LIMIT 1001');
    sent.push(`${short ? 'short' : 'long'}${isBounded ? ' bounded' : ''}`);
    const count = numbers.get(String(params[0])) ?? 7_000;
    return [[isBounded ? Math.min(1_001, count) : count]];
  });
  const take = () => sent.splice(0);
  assert.deepEqual([await counts.of(ofCity('few'), false), take()], [{ count: 1_000 }, ['short bounded']]);
  assert.deepEqual([await counts.of(ofCity('many'), false), take()], [{ count: 1_001 }, ['short bounded', 'long']]);
  assert.deepEqual([await counts.of(ofCity('few'), false), take()], [{ count: 1_000 }, ['long']]);
  assert.deepEqual([await counts.of(where({ kind: 'always' }), false), take()], [{ count: 7_000 }, ['long']]);
  assert.deepEqual([await counts.of(ofCity('many'), true), take()], [{ count: 1_001 }, ['short']]);
  assert.deepEqual([await counts.of({ ...ofCity('few'), count: false }, false), take()], [{}, []]);
});
