import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fail, serviceError } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { createRecord } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { rowContext } from '../../storage/sql/testing/addresses.ts';
import { ReaderPool } from '../../storage/sqlite/reads/pool.ts';
import { SqliteStore } from '../../storage/sqlite/store.ts';
import type { ActionRun } from '../actions/action.ts';
import { ActionFailed } from '../actions/action-failed.ts';
import { change, makeTables, queued, remove, rowsOf } from '../schedule/testing/tables.ts';
import { calls, finish, left, logged, makes, queueRows, trigger, worldOf } from './testing/world.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-runner-'));
let pool: ReaderPool;
let store: SqliteStore;
before(() => {
  pool = new ReaderPool(10_000, assert.fail);
});
beforeEach(async () => {
  await store?.close();
  store = new SqliteStore(join(directory, `${newObjectId()}.sqlite`), { pool, report: assert.fail, ...rowContext });
  await makeTables(store);
  await createRecord(masterOf(store), 'Done', { objectId: 'first', action: 'none', of: 'nothing' });
});
after(async () => {
  await store.close();
  await pool.close();
  rmSync(directory, { recursive: true });
});

const masterOf = (of: Store) => ({ appId: 'app', store: of, principal: { kind: 'master' } as const, hooks, referer: null });
const hooks = {
  observers: [],
  rules: new Map(),
  files: { attach: () => [], settle: async () => ({ kept: new Set<string>(), granted: new Set<string>() }) },
};

/** Makes a record that names the action and the record. */
const make = async ({ context, action, record }: ActionRun): Promise<void> => {
  await createRecord(context, 'Done', { action: action.id, of: record.objectId });
};
const made = async (): Promise<string[]> =>
  (await rowsOf(store, 'Done', ['action', 'of'])).slice(1).map(({ action, of }) => `${action} ${of}`);
const rows = (triggers: string, ...records: string[]) =>
  queueRows(
    store,
    records.map((objectIdValue) => ({ triggers, objectIdValue })),
  );

describe('a write', () => {
  test('its triggers and their actions are done in their order, each with its row, and its rows are gone', async () => {
    await queueRows(store, [
      { objectId: 'before0001', kind: 'before', objectIdValue: 'a' },
      { triggers: 't1,t2', objectIdValue: 'a', before: 'before0001' },
    ]);
    const triggers = [trigger('t1', [makes('a1'), makes('a2')]), trigger('t2', [makes('a3')])];
    const world = worldOf(store, { triggers, perform: make });
    assert.equal(await world.work(), null);
    assert.deepEqual(await made(), ['a1 a', 'a2 a', 'a3 a']);
    assert.deepEqual(await logged(store), ['t1 - a ok', 't1 a1 a ok', 't1 a2 a ok', 't2 - a ok', 't2 a3 a ok']);
    assert.deepEqual(await left(store), []);
    assert.equal(world.held(), 0);
  });

  test('one that does not fire, is gone or switched off, or has no action to do', async () => {
    const triggers = [
      trigger('no', [makes('a1')]),
      trigger('off', [makes('a1')], { isActive: false }),
      trigger('empty', [makes('a1', false)]),
      trigger('yes', [makes('a1')]),
    ];
    await rows('no', 'x', 'y');
    await rows('no,gone,off,empty,yes,no', 'z');
    const fires = async (_: unknown, { id }: { id: string }) => id !== 'no';
    await worldOf(store, { triggers, perform: make, fires }).work();
    assert.deepEqual(await made(), ['a1 z']);
    assert.deepEqual(await logged(store), [
      'gone - z The trigger was deleted before it could run.',
      'off - z The trigger was switched off before it could run.',
      'empty - z ok',
      'yes - z ok',
      'yes a1 z ok',
    ]);
    assert.deepEqual(await left(store), []);
  });

  test('narrow flags leave out actions of a type without a row', async () => {
    const changes = { ...makes('upd'), type: 'update-object', data: { target: 'self', fields: {} } } as const;
    const triggers = [trigger('t', [makes('make'), changes, calls('call')])];
    const flags = { create: 'createActions', update: 'updateActions', both: 'createActions,updateActions' };
    for (const [objectIdValue, given] of Object.entries(flags))
      await queueRows(store, [{ triggers: 't', objectIdValue, flags: given }]);
    await worldOf(store, { triggers }).work();
    assert.deepEqual((await logged(store)).toSorted(), [
      ...['t - both ok', 't - create ok', 't - update ok', 't call both ok', 't call create ok', 't call update ok'],
      ...['t make update ok', 't upd create ok'],
    ]);
  });

  test('the fourth level is told, and nothing done', async () => {
    await queueRows(store, [
      { triggers: 't', objectIdValue: 'third', level: 3, source: 's' },
      { triggers: 't', objectIdValue: 'fourth', level: 4, source: 's' },
    ]);
    const causes: unknown[] = [];
    const perform = async (run: ActionRun) => {
      causes.push(run.cause);
      await make(run);
    };
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.deepEqual(causes, [{ triggerId: 't', level: 3, source: 's' }]);
    assert.deepEqual((await logged(store)).toSorted(), [
      't - fourth blocked! trigger step is to deep -3. source trigger: s',
      't - third ok',
      't a third ok',
    ]);
  });

  test('an action that fails has its error in its row, and the next is done', async () => {
    const triggers = [
      trigger(
        't',
        ['refused', 'fault', 'told', 'wrote', 'fine'].map((id) => makes(id)),
      ),
    ];
    await rows('t', 'x');
    const perform = async (run: ActionRun) => {
      if (run.action.id === 'refused') fail('objectNotFound');
      if (run.action.id === 'fault') throw new Error('secret');
      if (run.action.id === 'told') throw new ActionFailed('nobody to send to');
      if (run.action.id === 'wrote') await make({ ...run, context: { ...run.reading, alongside: run.failed('in vain') } });
      else await make(run);
    };
    await worldOf(store, { triggers, perform }).work();
    assert.deepEqual(await logged(store), [
      't - x ok',
      't refused x Object not found.',
      't fault x server error',
      't told x nobody to send to',
      't wrote x in vain',
      't fine x ok',
    ]);
    assert.deepEqual(await made(), ['wrote x', 'fine x']);
  });

  test('a condition that cannot be looked at is told, and the next trigger runs', async () => {
    await rows('t1,t2', 'x');
    await rows('t2,t1', 'y');
    const fires = async (_: unknown, { id }: { id: string }) => (id === 't1' ? fail('classMissing', 'Things') : true);
    await worldOf(store, { triggers: [trigger('t1', []), trigger('t2', [])], fires }).work();
    assert.deepEqual((await logged(store)).toSorted(), [
      ...['t1 - x Class Things does not exist.', 't1 - y Class Things does not exist.', 't2 - x ok', 't2 - y ok'],
    ]);
    assert.deepEqual(await left(store), []);
  });

  test('the record is as its picture has it, without fields that are gone, secrets and values that do not fit', async () => {
    const seen: unknown[] = [];
    const perform = async (run: ActionRun) => {
      seen.push(run.record.fields);
      await finish(run);
    };
    await queueRows(store, [
      {
        ...{ triggers: 't', objectIdValue: 'x', fields: '["objectId","createdAt","name","gone","size"]' },
        record: '["x","1000","n",5,"2.5"]',
      },
      { triggers: 't', objectIdValue: 'x', fields: '["objectId","size","name"]', record: '["x","no number",null]' },
      { triggers: 't', objectIdValue: 'x', objectClass: 'Nothing' },
    ]);
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.deepEqual(
      seen.toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length),
      [
        { objectId: 'x', createdAt: '1970-01-01T00:00:01.000Z', name: 'n', size: 2.5, ACL: {} },
        { objectId: 'x', ACL: {} },
        { objectId: 'x' },
      ],
    );
  });
});

describe('order and number', () => {
  test('jobs of a record are done one after the other in their order, those of others side by side', async () => {
    const records = Array.from({ length: 300 }, (_, n) => `r${n % 30}`);
    await queueRows(
      store,
      records.map((objectIdValue, n) => ({ triggers: 't', objectIdValue, source: String(n) })),
    );
    const order = new Map<string, number[]>();
    let [atOnce, most] = [0, 0];
    const perform = async (run: ActionRun) => {
      most = Math.max(most, ++atOnce);
      assert.ok(!busy.has(run.record.objectId));
      busy.add(run.record.objectId);
      await wait(1);
      order.set(run.record.objectId, [...(order.get(run.record.objectId) ?? []), Number(run.cause.source)]);
      await finish(run);
      busy.delete(run.record.objectId);
      atOnce--;
    };
    const busy = new Set<string>();
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.ok(most > 20 && most <= 64, String(most));
    assert.equal(order.size, 30);
    for (const [record, seen] of order)
      assert.deepEqual(
        seen,
        Array.from({ length: 10 }, (_, n) => Number(record.slice(1)) + 30 * n),
      );
    assert.deepEqual(await left(store), []);
  });

  test('one record with many jobs keeps no other one waiting, and all are done once', async () => {
    await rows('t', ...Array.from({ length: 400 }, () => 'hot'), ...Array.from({ length: 300 }, (_, n) => `cold${n}`), 'hot');
    const ends: string[] = [];
    const perform = async (run: ActionRun) => {
      if (run.record.objectId === 'hot') await wait(1);
      await finish(run);
      ends.push(run.record.objectId);
    };
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.equal(ends.length, 701);
    assert.equal(ends.filter((one) => one === 'hot').length, 401);
    assert.ok(ends.slice(0, 600).includes('cold299'));
    assert.deepEqual(await left(store), []);
  });

  test('what is queued while others are at work is done, too', async () => {
    let more = 50;
    const perform = async (run: ActionRun) => {
      await finish(run);
      if (more-- <= 0) return;
      await rows('t', `next${more}`);
      world.runner.wake();
    };
    const world = worldOf(store, { triggers: [trigger('t', [makes('a')])], perform });
    await rows('t', 'first');
    await world.work();
    assert.equal((await logged(store)).length, 2 * 51);
  });

  test('a queue full of others is worked off in bounded memory', async () => {
    await store.inOneCommit(async (within) => {
      for (let n = 0; n < 20; n++)
        await queueRows(
          within,
          Array.from({ length: 250 }, (_, k) => ({ triggers: 'no', objectIdValue: `r${n}-${k}` })),
        );
    });
    await rows('t', 'last');
    const triggers = [trigger('no', []), trigger('t', [makes('a')])];
    const fires = async (_: unknown, { id }: { id: string }) => id === 't';
    const began = performance.now();
    await worldOf(store, { triggers, fires }).work();
    assert.deepEqual(await logged(store), ['t - last ok', 't a last ok']);
    assert.deepEqual(await left(store), []);
    assert.ok(performance.now() - began < 10_000);
  });
});

describe('a process that ends', () => {
  test('goes on where it was: what is done is not done again', async () => {
    await rows('t1,t2', 'x');
    const triggers = [trigger('t1', [makes('a1'), makes('a2')]), trigger('t2', [makes('a3')])];
    let dies: string | null = 'a2';
    const perform = async (run: ActionRun) => {
      if (run.action.id === dies) await new Promise(() => {});
      await make(run);
    };
    const first = worldOf(store, { triggers, perform });
    first.runner.wake();
    while ((await made()).length < 1) await wait(5);
    await wait(20);
    dies = 'a3';
    const second = worldOf(store, { triggers, perform });
    second.runner.wake();
    while ((await made()).length < 2) await wait(5);
    dies = null;
    await worldOf(store, { triggers, perform }).work();
    assert.deepEqual(await made(), ['a1 x', 'a2 x', 'a3 x']);
    assert.deepEqual(await logged(store), ['t1 - x ok', 't1 a1 x ok', 't1 a2 x ok', 't2 - x ok', 't2 a3 x ok']);
  });

  test('a function that was running is called again with the same id, and a row says so; not for ever', async () => {
    await rows('t', 'x');
    const triggers = [trigger('t', [calls('call'), makes('a')])];
    const attempts: [string, number][] = [];
    const dying = async ({ runId, attempt }: ActionRun) => {
      attempts.push([runId, attempt]);
      await new Promise(() => {});
    };
    for (let n = 1; n <= 5; n++) {
      worldOf(store, { triggers, perform: dying }).runner.wake();
      while (attempts.length < n) await wait(2);
    }
    assert.deepEqual(
      attempts.map(([, attempt]) => attempt),
      [1, 2, 3, 4, 5],
    );
    assert.equal(new Set(attempts.map(([id]) => id)).size, 1);
    await worldOf(store, { triggers }).work();
    const again = 't call x The process ended while this action ran; it is run again.';
    const end = 't call x The process ended each time while this action ran; it is not run again.';
    assert.deepEqual(await logged(store), ['t - x ok', again, again, again, again, end, 't a x ok']);
  });

  test('a job that another process has taken over is let go of without a trace', async () => {
    await rows('t', 'x', 'x', 'y');
    const perform = async (run: ActionRun) => {
      const rowsOfX = (await queued(store, 'write')).filter(({ objectIdValue }) => objectIdValue === 'x');
      if (run.record.objectId === 'x')
        for (const { objectId } of rowsOfX) await change(store, '_TriggerQueue', objectId as string, { owner: 'other' });
      await make(run);
    };
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.deepEqual(await made(), ['a y']);
    assert.deepEqual(await logged(store), ['t - y ok', 't a y ok']);
    assert.equal((await left(store)).length, 2);
  });

  test('an earlier job of the record that is another process’s is waited for', async () => {
    await queueRows(store, [{ objectId: 'foreign001', triggers: 't', objectIdValue: 'x', owner: 'other' }]);
    await rows('t', 'x', 'y');
    const world = worldOf(store, { triggers: [trigger('t', [makes('a')])], perform: make });
    const ended = world.work();
    await wait(250);
    assert.deepEqual(await made(), ['a y']);
    await remove(store, '_TriggerQueue', 'foreign001');
    await ended;
    assert.deepEqual(await made(), ['a y', 'a x']);
  });
});

test('a queue that begins with much of another process keeps only its records waiting', async () => {
  const foreign = Array.from({ length: 120 }, (_, n) => ({ objectId: `foreign${String(n).padStart(3, '0')}`, owner: 'other' }));
  await queueRows(
    store,
    foreign.map((one) => ({ triggers: 't', objectIdValue: 'x', ...one })),
  );
  await rows('t', 'x', 'y', 'x', 'z');
  const world = worldOf(store, { triggers: [trigger('t', [makes('a')])], perform: make });
  const ended = world.work();
  await wait(300);
  assert.deepEqual((await made()).toSorted(), ['a y', 'a z']);
  for (const { objectId } of foreign) await remove(store, '_TriggerQueue', objectId);
  await ended;
  assert.deepEqual((await made()).slice(2), ['a x', 'a x']);
});

test('a job that waits for another process is looked for although an earlier one of its record ends meanwhile', async () => {
  await rows('t', 'x');
  await queueRows(store, [{ objectId: 'foreign001', triggers: 't', objectIdValue: 'x', owner: 'other' }]);
  await rows('t', 'x');
  const world = worldOf(store, {
    triggers: [trigger('t', [makes('a')])],
    perform: async (run) => {
      await wait(30);
      await make(run);
    },
  });
  const ended = world.work();
  await wait(200);
  assert.deepEqual(await made(), ['a x']);
  await remove(store, '_TriggerQueue', 'foreign001');
  await ended;
  assert.deepEqual(await made(), ['a x', 'a x']);
});

test('what will pass is tried again, and its record waits while others go on', async () => {
  await rows('t', 'x', 'x', 'y');
  let failures = 1;
  const perform = async (run: ActionRun) => {
    if (run.record.objectId === 'x' && failures-- > 0) throw serviceError('unavailable');
    await make(run);
  };
  const began = Date.now();
  await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
  assert.deepEqual(await made(), ['a y', 'a x', 'a x']);
  assert.ok(Date.now() - began >= 1_000);
  assert.equal((await logged(store)).length, 6);
});

test('what is closed begins nothing more, and waits for the step under way', async () => {
  await rows('t', ...Array.from({ length: 100 }, (_, n) => `r${n % 10}`));
  let begun = 0;
  let ended = 0;
  const perform = async (run: ActionRun) => {
    begun++;
    await wait(30);
    await finish(run);
    ended++;
  };
  const world = worldOf(store, { triggers: [trigger('t', [makes('a'), makes('b')])], perform });
  world.runner.wake();
  while (begun < 10) await wait(1);
  await world.runner.close(5_000);
  assert.equal(begun, 10);
  assert.equal(ended, 10);
  assert.equal(world.held(), 0);
  assert.equal((await left(store)).length, 100);
  await worldOf(store, { triggers: [trigger('t', [makes('a'), makes('b')])], perform: make }).work();
  assert.equal((await logged(store)).length, 300);
});
