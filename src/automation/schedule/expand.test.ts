import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { serviceError } from '../../errors/fail.ts';
import { tableOf } from '../../schema/model.ts';
import { columnFields, snapshotValues } from '../../storage/column-values.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import type { Job } from '../queue/job.ts';
import { expand, runDue } from './index.ts';
import {
  add,
  addThings,
  change,
  define,
  logOf,
  makeTables,
  onlyRun,
  queued,
  remove,
  runsOf,
  thing,
  timesOf,
} from './testing/tables.ts';

/** A full minute. */
const noon = Date.UTC(2026, 5, 1, 12);

let store: SqliteStore;
const system = () => ({ appId: 'app', name: 'System', store });
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
});

const jobs = () => runsOf(store);
const theJob = () => onlyRun(store);
const log = () => logOf(store);
const recordsQueued = async () => (await queued(store, 'write')).map(({ objectIdValue }) => objectIdValue);
const things = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => thing(from + n));

describe('a run', () => {
  /** Makes a run due now and queues it. */
  async function due(id = 'trigger001'): Promise<Job> {
    await change(store, '_Trigger', id, { nextRun: noon });
    await runDue(system(), noon);
    return theJob();
  }

  test('each record that matches has a row with its snapshot, in the order of their objectIds', async () => {
    await add(
      store,
      'Things',
      [3, 1, 2, 0].map((n) => ({ objectId: thing(n), name: `n${n}`, size: n / 2 })),
    );
    await define(store, 'trigger001', { criteria: '{"size":{"$gte":0.5}}' });
    await expand(system(), await due());
    assert.deepEqual(await jobs(), []);
    const rows = await queued(store, 'write');
    assert.deepEqual(await recordsQueued(), things(1, 4));
    for (const row of rows) {
      const { triggers, event, objectClass, level, owner, source, state } = row;
      assert.deepEqual(
        [triggers, event, objectClass, level, owner],
        ['trigger001', 'schedule', 'Things', 1, store.cluster.processId],
      );
      assert.deepEqual([source, state], [undefined, undefined]);
    }
    const fields = columnFields(tableOf(store.schema(), 'Things'));
    assert.deepEqual(
      JSON.parse(rows[0]?.fields as string),
      fields.map(({ name }) => name),
    );
    const values = snapshotValues(rows[0]?.record as string, fields);
    assert.deepEqual(Object.fromEntries(fields.map(({ name }, at) => [name, values[at]])), {
      ...{ objectId: thing(1), createdAt: 0, updatedAt: 0, createdBy: 'master', updatedBy: 'master', ACL: null },
      ...{ name: 'n1', size: 0.5 },
    });
    assert.deepEqual(await log(), []);
  });

  test('no records, no rows', async () => {
    await define(store, 'trigger001');
    await expand(system(), await due());
    assert.deepEqual([await jobs(), await recordsQueued(), await log()], [[], [], []]);
  });

  test('1,500 records: 1,000, then 500, then from the first again; a row of the log says that there are more', async () => {
    await addThings(store, 1_500);
    await define(store, 'trigger001');
    const empty = async () => {
      const ids = await recordsQueued();
      await store.write({
        plan: (schema) => ({
          changes: [],
          mutations: [{ kind: 'deleteAll', table: tableOf(schema, '_TriggerQueue'), filter: { kind: 'always' } }],
        }),
      });
      return ids;
    };
    await expand(system(), await due());
    assert.deepEqual(await empty(), things(0, 1_000));
    assert.deepEqual(await log(), [
      {
        ...(await log())[0],
        ...{ triggerId: 'trigger001', event: 'schedule', objectIdValue: '' },
        error: '"Only the first 1,000 records were run; the rest follow at the next run."',
      },
    ]);
    assert.equal((await timesOf(store, 'trigger001')).cursor, thing(999));
    await expand(system(), await due());
    assert.deepEqual(await empty(), things(1_000, 1_500));
    assert.equal((await timesOf(store, 'trigger001')).cursor, null);
    await expand(system(), await due());
    assert.deepEqual(await empty(), things(0, 1_000));
    assert.equal((await log()).length, 2);
  });

  test('exactly 1,000 records are a whole run', async () => {
    await addThings(store, 1_000);
    await define(store, 'trigger001');
    await expand(system(), await due());
    assert.equal((await recordsQueued()).length, 1_000);
    assert.deepEqual(await log(), []);
    assert.equal((await timesOf(store, 'trigger001')).cursor, null);
  });

  /** Lets so many commits through, then none. */
  function failAfter(writes: number): { heal: () => void } {
    const write = store.write.bind(store);
    let left = writes;
    store.write = async (prepared) => {
      if (left-- <= 0) throw new Error('the power is gone');
      return write(prepared);
    };
    return { heal: () => (store.write = write) };
  }

  for (const commits of [0, 1, 2, 3])
    test(`an end after ${commits} commits loses no record and doubles none`, async () => {
      await addThings(store, 700);
      await define(store, 'trigger001');
      const job = await due();
      const { heal } = failAfter(commits);
      await assert.rejects(expand(system(), job), /power/);
      heal();
      assert.equal((await recordsQueued()).length, commits * 200);
      await expand(system(), await theJob());
      assert.deepEqual(await recordsQueued(), things(0, 700));
      assert.deepEqual(await jobs(), []);
    });

  test('a page whose answer was lost is not queued twice', async () => {
    await addThings(store, 300);
    await define(store, 'trigger001');
    const job = await due();
    const write = store.write.bind(store);
    store.write = async (prepared) => {
      await write(prepared);
      throw serviceError('unavailable');
    };
    await assert.rejects(expand(system(), job), { key: 'unavailable' });
    await assert.rejects(expand(system(), job), { key: 'unavailable' });
    await expand(system(), job);
    assert.deepEqual(await recordsQueued(), things(0, 300));
  });

  test('a run that was taken over leaves everything as it is', async () => {
    await addThings(store, 3);
    await define(store, 'trigger001');
    const job = await due();
    await change(store, '_TriggerQueue', job.id, { owner: 'another' });
    await expand(system(), job);
    assert.deepEqual(await recordsQueued(), []);
    assert.equal((await theJob()).id, job.id);
    await remove(store, '_TriggerQueue', job.id);
    await expand(system(), job);
    assert.deepEqual(await recordsQueued(), []);
  });

  test('a record that is deleted between the look and the commit is passed over', async () => {
    await addThings(store, 3);
    await define(store, 'trigger001');
    const job = await due();
    const write = store.write.bind(store);
    store.write = async (prepared) => {
      store.write = write;
      await remove(store, 'Things', thing(1));
      return write(prepared);
    };
    await expand(system(), job);
    assert.deepEqual(await recordsQueued(), [thing(0), thing(2)]);
  });

  for (const [what, spoil, error] of [
    ['deleted', () => remove(store, '_Trigger', 'trigger001'), 'The trigger was deleted before it could run.'],
    [
      'switched off',
      () => change(store, '_Trigger', 'trigger001', { Active: false }),
      'The trigger was switched off before it could run.',
    ],
    [
      'about another table by now',
      () => change(store, '_Trigger', 'trigger001', { table: 'Others' }),
      'The trigger was changed before it could run.',
    ],
  ] as const)
    test(`a trigger that was ${what}: one row says so`, async () => {
      await addThings(store, 3);
      await define(store, 'trigger001');
      const job = await due();
      await spoil();
      await expand(system(), job);
      assert.deepEqual([await jobs(), await recordsQueued()], [[], []]);
      assert.deepEqual(
        (await log()).map((row) => JSON.parse(row.error as string)),
        [error],
      );
    });

  test('criteria that the table no longer fits: one row says so, and the run ends', async () => {
    await addThings(store, 3);
    await define(store, 'trigger001', { criteria: '{"size":{"$nosuch":1}}' });
    const job = await due();
    await expand(system(), job);
    assert.deepEqual([await jobs(), await recordsQueued()], [[], []]);
    assert.equal((await log()).length, 1);
  });

  test('a table that is gone has no records', async () => {
    await define(store, 'trigger001', { table: 'Gone' });
    await expand(system(), await due());
    assert.deepEqual([await jobs(), await recordsQueued(), await log()], [[], [], []]);
  });

  test('a store that is not available now leaves the run queued', async () => {
    await addThings(store, 3);
    await define(store, 'trigger001');
    const job = await due();
    const { find } = store.reader;
    store.reader.find = () => Promise.reject(serviceError('unavailable'));
    await assert.rejects(expand(system(), job), { key: 'unavailable' });
    store.reader.find = find;
    await expand(system(), await theJob());
    assert.deepEqual(await recordsQueued(), things(0, 3));
  });
});
