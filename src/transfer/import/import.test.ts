import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { newAct, operator } from '../../acts/index.ts';
import { serviceError } from '../../errors/fail.ts';
import { readRows } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { Reader, Store } from '../../storage/port.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import { type Fate, FaultyStore } from '../../storage/testing/faulty-store.ts';
import { imports } from '../../systems/migrations/011-imports.ts';
import type { ImportRequest } from './columns/request.ts';
import { importRecords, type RejectedRow } from './import.ts';
import { type ImportFile, planImport } from './plan.ts';
import { ImportProgress } from './write/progress.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await imports.prepare(store).then((plan) => store.write({ plan }));
});

const text = '{"n":1}\n{"n":2}\nno JSON\n{"n":3,"createdBy":"x"}\n';
const file: ImportFile = {
  name: 'rows.ndjson',
  async *read() {
    yield Buffer.from(text);
  },
};
const request: ImportRequest = {
  className: 'Rows',
  format: 'ndjson',
  map: new Map(),
  matchOn: [],
  keepTimes: false,
  skipTriggers: true,
  skipTimeline: true,
  newFields: true,
};

async function importInto(to: Store, begun = () => {}) {
  const context = masterContext(to);
  const plan = await planImport(context, file, request);
  const progress = await ImportProgress.begin(to, 'import', 'Rows', '', newAct({ act: 'import', subject: 'Rows' }, operator));
  begun();
  const rejected: number[] = [];
  const events = {
    keep: async () => 0,
    rejected: ({ row }: RejectedRow) => void rejected.push(row.number),
    progressed: () => {},
  };
  const done = await importRecords(context, request, plan, { otherProcesses: () => 'none', progress, events });
  return { ...done, leftOut: [...done.leftOut], lines: rejected };
}

const expected = {
  ...{ done: 4, created: 3, updated: 0, rejected: 1, rejectedBytes: 0 },
  leftOut: [['createdBy', 1]],
  lines: [3],
};

for (const fate of ['undone', 'done'] as readonly Fate[])
  test(`a group whose store goes away is imported once, when it is back: ${fate}`, async () => {
    const faulty = new FaultyStore(store, { fate: () => fate });
    // The store fails once more while the import checks whether the group was committed.
    const get = mock.fn((...given: Parameters<Reader['get']>) => faulty.store.reader.get(...given));
    get.mock.mockImplementationOnce(() => Promise.reject(serviceError('unavailable')));
    const reader = new Proxy(faulty.store.reader, { get: (of, name) => (name === 'get' ? get : Reflect.get(of, name)) });
    const importing = importInto(
      new Proxy(faulty.store, { get: (of, name) => (name === 'reader' ? reader : Reflect.get(of, name)) }),
      () => faulty.leave(),
    );
    await wait(200);
    faulty.back();
    assert.deepEqual(await importing, expected);
    const rows = await readRows<{ n: number }>(store, { className: 'Rows', fields: ['n'], filter: () => ({ kind: 'always' }) });
    assert.deepEqual(
      rows.map(({ n }) => n),
      [1, 2, 3],
    );
  });

for (const what of ['unavailable', 'timeout'] as const)
  test(`a row that meets a fault of the store is none that is refused: ${what}`, async () => {
    let times = 0;
    const write = () => Promise.reject(serviceError(what));
    const failing = (within: Store) =>
      new Proxy(within, { get: (of, name) => (name === 'write' ? write : propertyOf(of, name)) });
    const bulkTransaction: Store['bulkTransaction'] = (work) =>
      store.bulkTransaction((within) => work(times++ === 0 ? failing(within) : within));
    const breaking = new Proxy<Store>(store, {
      get: (of, name) => (name === 'bulkTransaction' ? bulkTransaction : propertyOf(of, name)),
    });
    assert.deepEqual((await importInto(breaking)).lines, [3]);
    assert.equal(times, 2);
  });

function propertyOf(of: Store, name: string | symbol): unknown {
  const value: unknown = Reflect.get(of, name, of);
  return typeof value === 'function' ? value.bind(of) : value;
}
