import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricReport } from '../observe/metrics/index.ts';
import { countersOf, reportOf, sumOf } from './counters.ts';
import { Remembered } from './remembered.ts';

test('a value is read while it is asked for, once at a time; an error is reported once in that time', async () => {
  const failed: unknown[] = [];
  let reads = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const value = new Remembered(
    async () => {
      if (++reads === 1) await promise;
      return reads;
    },
    0,
    (error) => failed.push(error),
  );
  assert.equal(reads, 0);
  assert.equal(await value.get(1), undefined);
  const [first, second] = [value.get(60_000), value.get(60_000)];
  resolve();
  assert.deepEqual(await Promise.all([first, second]), [1, 1]);
  assert.equal(reads, 1);
  const old = new Remembered(
    async () => ++reads,
    60_000,
    (error) => failed.push(error),
  );
  assert.deepEqual([await old.get(1_000), await old.get(1_000)], [2, 2]);
  assert.equal(failed.length, 0);
  const failing = new Remembered(
    () => Promise.reject(new Error('of a read')),
    60_000,
    (error) => failed.push(error),
  );
  assert.equal(await failing.get(1_000), undefined);
  assert.equal(await failing.get(1_000), undefined);
  assert.equal(failed.length, 1);
});

test('of a process that ended, what only grows is kept and added', () => {
  const metric = (type: MetricReport['type'], name: string, value: number, labels = {}): MetricReport => ({
    ...{ name, type, help: name, aggregator: 'sum' },
    values: [{ labels, value }],
  });
  const one = reportOf([metric('counter', 'c', 1, { of: 'a' }), metric('gauge', 'g', 5), metric('histogram', 'h', 2)]);
  const other = reportOf([metric('counter', 'c', 10, { of: 'a' }), metric('counter', 'd', 7, { of: 'b' })]);
  const { metrics } = sumOf([countersOf(one), countersOf(other)]);
  const found = metrics.map(({ name, values }) => [name, values.map(({ value }) => value)]);
  assert.deepEqual(found, [
    ['c', [11]],
    ['h', [2]],
    ['d', [7]],
  ]);
});
