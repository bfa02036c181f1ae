import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../kernel/json.ts';
import { createAtomically, createRecord, type RecordContext, readRows } from '../../records/index.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { commitShare } from '../model/loop-share.ts';
import { queueTable } from '../queue/index.ts';
import { makeWorld, type World } from '../testing/world.ts';
import { triggerObserver } from './trigger-observer.ts';

let world: World;
let context: RecordContext;
let wanted: string;
let other: string;
before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
  const define = (Name: string) =>
    world.create('_Trigger', { Name, table: 'Tags', events: ['create'], criteria: { Name }, actions: [], Active: true });
  wanted = await define('wanted');
  other = await define('other');
  const observer = triggerObserver({ queued() {}, outcomeUnknown() {}, triggersChanged() {} });
  context = { ...world.master, hooks: { ...world.master.hooks, observers: [observer] } };
});
after(() => world.close());

/** Begins a turn whose time share suffices for the criteria, however slow the machine is. */
async function longTurn(): Promise<void> {
  await nextTurn();
  commitShare.charge(-60_000);
}

const queuedFor = async (): Promise<(string | undefined)[]> => {
  const fields = ['triggers'];
  const rows = await readRows<{ triggers?: string }>(world.store, {
    className: queueTable,
    fields,
    filter: () => ({ kind: 'always' }),
  });
  await world.store.write({
    plan: ({ tables }) => {
      const table = tables.get(queueTable) ?? assert.fail();
      return { changes: [], mutations: [{ kind: 'deleteAll', table, filter: { kind: 'always' } }] };
    },
  });
  return rows.map(({ triggers }) => triggers);
};
const tag = (Name: string): JsonObject => ({ Name });

test('a record that is made queues the triggers whose criteria it meets', async () => {
  for (const name of ['none', 'wanted']) {
    await longTurn();
    await createRecord(context, 'Tags', tag(name));
  }
  assert.deepEqual(await queuedFor(), [wanted]);
});

test('what is beyond the share of a turn is left to the runner, until the next turn', async () => {
  await nextTurn();
  const made = createAtomically(context, [
    { className: 'Tags', body: tag('none') },
    { className: 'Tags', body: tag('none') },
  ]);
  commitShare.charge(5);
  await made;
  assert.deepEqual(await queuedFor(), [`${wanted},${other}`, `${wanted},${other}`]);
  await longTurn();
  await createRecord(context, 'Tags', tag('none'));
  assert.deepEqual(await queuedFor(), []);
});
