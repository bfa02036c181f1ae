import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Store, wholeText } from '../../storage/port.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import { left, queueRows } from '../run/testing/world.ts';
import { makeTables } from '../schedule/testing/tables.ts';
import { type ActiveJobs, Backlog, type Batch } from './backlog.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
});

const bounds = { characters: 4_000, small: 100, rows: 100 };
/** Characters per read in these tests, as if text could not be longer. */
const MAX_CHARACTERS = 10_000;

/** Returns the store with reads that fail if they would exceed the limit. */
function narrow(): { readonly store: Store; readonly reads: number[] } {
  const reads: number[] = [];
  const find: Store['reader']['find'] = async (query) => {
    const found = await store.reader.find(query);
    const text = await wholeText(found.results);
    reads.push(text.length);
    if (text.length > MAX_CHARACTERS) throw new RangeError('Invalid string length');
    return { ...found, results: text };
  };
  const over = <T extends object>(target: T, more: Partial<T>): T =>
    new Proxy(target, {
      get(_, name) {
        if (Object.hasOwn(more, name)) return more[name as keyof T];
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  return { store: over<Store>(store, { reader: over(store.reader, { find }) }), reads };
}

const held = new Set<string>();
const busy: ActiveJobs = {
  isLoaded: (id) => held.has(id),
  loaded: held,
  isWaiting: () => false,
  waiting: [],
  retryableSlots: () => 8,
};
const read = (backlog: Backlog): Promise<Batch> => backlog.read(Date.now(), busy, async () => false);
const record = (length: number): string => JSON.stringify(['x', 'y'.repeat(length)]);
const snapshot = (length: number) => ({ fields: '["objectId","name"]', record: record(length) });
const rowsOf = (lengths: readonly number[], from = 0) =>
  lengths.map((length, at) => ({ objectId: `row${from + at}`, triggers: 't', objectIdValue: `r${at}`, ...snapshot(length) }));

/** Returns all jobs in the order of reading, with the length of each snapshot. */
async function all(backlog: Backlog): Promise<string[]> {
  const found: string[] = [];
  held.clear();
  for (let reads = 0; reads < 100; reads++) {
    const { jobs, hasMore } = await read(backlog);
    for (const { id, snapshot: taken } of jobs) {
      held.add(id);
      found.push(`${id} ${taken?.fault ?? taken?.record.length}`);
    }
    if (!hasMore && jobs.length === 0) break;
  }
  held.clear();
  return found;
}

test('long snapshots come in portions, in order, and those that do not fit by themselves with a fault', async () => {
  const lengths = Array.from({ length: 40 }, (_, at) => (at === 7 ? 20_000 : at % 3 === 0 ? 3_000 : 10));
  await queueRows(store, rowsOf(lengths));
  const { store: seen, reads } = narrow();
  const found = await all(new Backlog(seen, bounds));
  const wanted = lengths.map((length, at) =>
    at === 7 ? 'row7 The record is too large for triggers.' : `row${at} ${record(length).length}`,
  );
  assert.deepEqual(found, wanted);
  assert.ok(reads.filter((length) => length > MAX_CHARACTERS).length < 10, String(reads));
});

test('rows that are long come where every read is bounded, however few of them an earlier read had', async () => {
  const lengths = [...Array.from({ length: 60 }, () => 10), ...Array.from({ length: 30 }, () => 3_000)];
  await queueRows(store, rowsOf(lengths));
  const wanted = lengths.map((length, at) => `row${at} ${record(length).length}`);
  assert.deepEqual(await all(new Backlog(store, bounds)), wanted);
});

test('a read of small rows is one query, until one is long', async () => {
  const { store: seen, reads } = narrow();
  const backlog = new Backlog(seen, bounds);
  await read(backlog);
  await queueRows(store, rowsOf([10, 20, 30]));
  reads.length = 0;
  assert.equal((await read(backlog)).jobs.length, 3);
  assert.equal(reads.length, 1);
  await queueRows(store, rowsOf([9_000, 9_000, 10], 3));
  assert.equal((await all(backlog)).length, 6);
  assert.equal(new Set(await all(backlog)).size, 6);
});

test('snapshots from before are read in portions too; a job waits for its own', async () => {
  const pairs = Array.from({ length: 10 }, (_, at) => [
    { objectId: `old${at}`, kind: 'before', objectIdValue: `r${at}`, ...snapshot(at === 3 ? 20_000 : 2_500) },
    { objectId: `row${at}`, triggers: 't', objectIdValue: `r${at}`, before: `old${at}`, ...snapshot(10) },
  ]);
  await queueRows(store, pairs.flat());
  const backlog = new Backlog(narrow().store, bounds);
  const found: string[] = [];
  held.clear();
  for (let more = true; more; ) {
    const batch = await read(backlog);
    for (const { id, beforeId } of batch.jobs) {
      const taken = batch.before.get(beforeId as string);
      found.push(`${id} ${taken?.fault ?? taken?.record.length}`);
      held.add(id);
    }
    more = batch.hasMore;
  }
  const wanted = pairs.map((_, at) =>
    at === 3 ? 'row3 The record is too large for triggers.' : `row${at} ${record(2_500).length}`,
  );
  assert.deepEqual(found, wanted);
});

test('states of later jobs are read in portions', async () => {
  const state = JSON.stringify({ text: 'x'.repeat(3_500) });
  const kinds = Array.from({ length: 10 }, (_, at) => (at % 2 ? 'mail' : 'code'));
  await queueRows(store, kinds.map((kind, at) => ({ objectId: `row${at}`, kind, triggers: 't', state }))); // biome-ignore format: one call
  const backlog = new Backlog(narrow().store, bounds);
  held.clear();
  for (let reads = 0; held.size < 10; reads++) {
    const { retryable, hasMoreRetryable } = await read(backlog);
    assert.ok(retryable.length > 0 && reads < 10);
    for (const job of retryable) {
      assert.equal(job.state, state);
      held.add(job.id);
    }
    assert.equal(hasMoreRetryable, held.size < 10);
  }
});

test('snapshots from before that no row names are removed when they are old', async () => {
  const old = Date.now() - 120_000;
  await queueRows(store, [
    { objectId: 'stray', kind: 'before', createdAt: old, objectIdValue: 'r' },
    { objectId: 'young', kind: 'before', objectIdValue: 'r' },
    { objectId: 'named', kind: 'before', createdAt: old, objectIdValue: 'r' },
    { objectId: 'row', triggers: 't', createdAt: old, before: 'named', objectIdValue: 'r' },
  ]);
  await read(new Backlog(store));
  assert.deepEqual((await left(store)).map(({ objectId }) => objectId).sort(), ['named', 'row', 'young']);
});
