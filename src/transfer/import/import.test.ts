import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { readRows } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { Store } from '../../storage/port.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import { type Fate, FaultyStore } from '../../storage/testing/faulty-store.ts';
import { importRecords } from './import.ts';

let store: SqliteStore;
eachWithStore((fresh) => {
  store = fresh;
});

async function* blocks() {
  yield ['{"n":1}', '{"n":2}', 'no JSON', '{"n":3,"createdBy":"x"}'];
}

const options = { keepTimes: false, skipTriggers: true, skipTimeline: true };

async function importInto(to: Store) {
  const rejected: number[] = [];
  const events = { rejected: ({ line }: { line: number }) => void rejected.push(line), progressed: () => {} };
  const done = await importRecords(masterContext(to), 'Rows', blocks(), options, () => 'none', events);
  return { ...done, leftOut: [...done.leftOut], lines: rejected };
}

for (const fate of ['undone', 'done'] as readonly Fate[])
  test(`a group whose store goes away is imported once, when it is back: ${fate}`, async () => {
    const faulty = new FaultyStore(store, { fate: () => fate });
    faulty.leave();
    const importing = importInto(faulty.store);
    await wait(100);
    faulty.back();
    assert.deepEqual(await importing, { created: 3, rejected: 1, leftOut: [['createdBy', 1]], lines: [3] });
    const rows = await readRows<{ n: number }>(store, { className: 'Rows', fields: ['n'], filter: () => ({ kind: 'always' }) });
    assert.deepEqual(
      rows.map(({ n }) => n),
      [1, 2, 3],
    );
  });

test('a row that meets a fault of the store is none that is refused', async () => {
  const faulty = new FaultyStore(store, { fate: () => 'undone' });
  let times = 0;
  const inOneCommit: Store['inOneCommit'] = (work) => store.inOneCommit((within) => work(times++ === 0 ? faulty.store : within));
  const breaking = new Proxy<Store>(store, {
    get(target, name) {
      const value: unknown = name === 'inOneCommit' ? inOneCommit : Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  faulty.leave();
  assert.deepEqual((await importInto(breaking)).lines, [3]);
  assert.equal(times, 2);
});
