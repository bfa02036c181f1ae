import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceError } from '../errors/fail.ts';
import { Observations } from '../observe/index.ts';
import type { Query, Selection } from '../query/model/selection.ts';
import { field, table } from '../query/testing/fixture.ts';
import { observedReader } from './observed-reader.ts';
import type { CountedText, Reader } from './reader.ts';
import { countRecords } from './text-values.ts';

interface Seen {
  readonly operation: string;
  readonly table: string;
  readonly rows: number | undefined;
  readonly isTimedOut: boolean;
  readonly where: unknown;
  readonly plan: readonly string[];
}

/** Returns a reader that is measured from `slowMs` on, and what was observed. */
function observed(inner: Partial<Reader>, slowMs = 0.000_001) {
  const seen: Promise<Seen>[] = [];
  const observations = new Observations((error) => assert.fail(String(error)), slowMs);
  observations.subscribe(['query'], ({ operation, table: of, rows, isTimedOut, shape, plan }) => {
    const { where } = shape();
    seen.push(Promise.resolve(plan?.() ?? []).then((steps) => ({ operation, table: of, rows, isTimedOut, where, plan: steps })));
  });
  const explain: Reader['explain'] = async () => ({ steps: [{ kind: 'scan', table: 'Sales' }] });
  const reader = observedReader({ ...inner, explain } as Reader, 'app', observations);
  return { reader, seen: () => Promise.all(seen) };
}

const selection: Selection = { table: table('Sales'), fields: [], filter: { kind: 'always' }, includes: [] };
const filter = { kind: 'compare', field: field('Sales', 'Name'), op: 'eq', value: 'secret' } as const;
const query: Query = { ...selection, filter, order: [], skip: 0, limit: 10, count: false, withScore: false };
const plan = ['scan of all records of Sales'];
const base = { table: 'Sales', isTimedOut: false, plan };

test('a read of one record', async () => {
  const { reader, seen } = observed({ get: async (_selection, id) => (id === 'there' ? '{}' : null) });
  assert.equal(await reader.get(selection, 'there'), '{}');
  assert.equal(await reader.get(selection, 'gone'), null);
  const where = { objectId: '$eq' };
  assert.deepEqual(await seen(), [
    { ...base, operation: 'get', rows: 1, where },
    { ...base, operation: 'get', rows: 0, where },
  ]);
});

test('a list as text, as values, and a count', async () => {
  const { reader, seen } = observed({
    async find(_query, form) {
      if (form) return { results: '', ...(form === 'values' ? { rows: [{}, {}, {}] } : { escaped: ['{}'] }) };
      return { results: '[{"a":"{"},{"b":[{}]}]' };
    },
  });
  await reader.find(query);
  await reader.find(query, 'values');
  await reader.find(query, 'escaped');
  await reader.find({ ...query, limit: 0, count: true });
  const where = { Name: '$eq' };
  const operations = (await seen()).map(({ operation, rows, where: of }) => [operation, rows, of]);
  assert.deepEqual(operations, [
    ['find', 2, where],
    ['find', 3, where],
    ['find', 1, where],
    ['count', 2, where],
  ]);
});

test('an answer in pieces is reported at its end, or when its client leaves', async () => {
  let returned = 0;
  const pieces = (): AsyncIterableIterator<string> & CountedText => {
    const left = ['[{}', ',{}', ']'];
    const iterator: AsyncIterableIterator<string> & CountedText = {
      records: 2,
      [Symbol.asyncIterator]: () => iterator,
      next: async () => (left.length > 0 ? { done: false, value: left.shift() as string } : { done: true, value: undefined }),
      return: async () => {
        returned++;
        return { done: true, value: undefined };
      },
    };
    return iterator;
  };
  const { reader, seen } = observed({ find: async () => ({ results: pieces(), count: 7 }) });
  const whole = await reader.find(query);
  assert.equal(whole.count, 7);
  assert.equal((await seen()).length, 0);
  let text = '';
  for await (const piece of whole.results as AsyncIterable<string>) text += piece;
  assert.equal(text, '[{},{}]');
  assert.deepEqual(
    (await seen()).map(({ rows }) => rows),
    [2],
  );
  for await (const _piece of (await reader.find(query)).results as AsyncIterable<string>) break;
  assert.equal(returned, 1);
  assert.equal((await seen()).length, 2);
});

test('a time limit is reported however short; other errors and callers that left are not', async () => {
  const { reader, seen } = observed({ find: () => Promise.reject(serviceError('timeout')) }, 60_000);
  await assert.rejects(reader.find(query));
  await assert.rejects(reader.find(query, undefined, AbortSignal.abort()));
  assert.deepEqual(await seen(), [{ ...base, operation: 'find', rows: undefined, isTimedOut: true, where: { Name: '$eq' } }]);
  const failing = observed({ find: () => Promise.reject(new Error('broken')) });
  await assert.rejects(failing.reader.find(query), /broken/);
  assert.deepEqual(await failing.seen(), []);
});

test('nothing is measured if no query is to be reported', () => {
  const inner = { get: async () => null } as unknown as Reader;
  assert.equal(observedReader(inner, 'app', new Observations()), inner);
  assert.equal(observedReader(inner, 'app'), inner);
});

test('records of a text are counted whatever their values hold', () => {
  for (const [text, records] of [
    ['[]', 0],
    ['[{"a":"[{\\"},{"},{"b":{"c":[{},{}]}},{}]', 3],
    ['[{"a":"\\\\"},{"b":"]"}]', 2],
  ] as const)
    assert.equal(countRecords(text), records, text);
});
