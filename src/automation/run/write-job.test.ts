import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fail } from '../../errors/fail.ts';
import { createRecord } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { planTableChange } from '../../schema/definition.ts';
import { fieldOf, tableOf } from '../../schema/model.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import type { SnapshotRecord } from '../matching/conditions.ts';
import type { ActionRun } from '../model/action.ts';
import { ActionFailed } from '../model/action.ts';
import { runnerShare } from '../model/loop-share.ts';
import { makeTables } from '../schedule/testing/tables.ts';
import { RecordValues } from '../templates/record-values.ts';
import { turnsDuring } from '../testing/turns.ts';
import { spend } from './chain-limits.ts';
import { calls, finish, left, logged, madeIn, make, makes, queueRows, rowsIn, trigger, worldOf } from './testing/world.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
  await createRecord(masterContext(store), 'Done', { objectId: 'first', action: 'none', of: 'nothing' });
});

const made = () => madeIn(store);
const rows = (triggers: string, ...records: string[]) => rowsIn(store, triggers, records);

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

  test('many triggers whose conditions take their time leave the event loop to others', async () => {
    const many = Array.from({ length: 40 }, (_, n) => trigger(`t${n}`, []));
    await rows(many.map(({ id }) => id).join(), 'x');
    const turns = new Set<number>();
    await turnsDuring((sofar) => {
      const fires = async () => {
        runnerShare.charge(5);
        turns.add(sofar());
        return false;
      };
      return worldOf(store, { triggers: many, fires }).work();
    });
    assert.equal(turns.size, many.length);
    assert.deepEqual(await left(store), []);
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

  test('what one write brings about is bounded: one row says so, and the rest is not done', async () => {
    const triggers = [trigger('t1', [makes('a1'), makes('a2'), makes('a3')]), trigger('t2', [makes('a4')])];
    for (let actions = 0; actions < 9_998; actions++) spend(store, 'level1row0');
    await queueRows(store, [{ objectId: 'level1row0', triggers: 't1,t2', objectIdValue: 'a' }]);
    await queueRows(
      store,
      ['b', 'c'].map((objectIdValue) => ({ triggers: 't1', objectIdValue, level: 2, chain: 'level1row0' })),
    );
    await queueRows(store, [{ triggers: 't2', objectIdValue: 'd', level: 2, chain: 'another' }]);
    await worldOf(store, { triggers, perform: make }).work();
    assert.equal((await made()).filter((name) => !name.endsWith(' d')).length, 2);
    assert.deepEqual((await made()).filter((name) => name.endsWith(' d')), ['a4 d']); // biome-ignore format: one comparison
    const told = (await logged(store)).filter((row) => row.includes('blocked!'));
    assert.equal(told.length, 1, told.join());
    assert.match(told[0] as string, /blocked! one write brings about more than 10,000 actions\. source trigger: t1$/);
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

  test('the fourth level is reported, and nothing done', async () => {
    await queueRows(store, [
      { triggers: 't', objectIdValue: 'third', level: 3, source: 's', chain: 'c' },
      { triggers: 't', objectIdValue: 'fourth', level: 4, source: 's' },
    ]);
    const causes: unknown[] = [];
    const perform = async (run: ActionRun) => {
      causes.push(run.cause);
      await make(run);
    };
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.deepEqual(causes, [{ triggerId: 't', level: 3, source: 's', chain: 'c' }]);
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

  test('a condition that cannot be looked at is reported, and the next trigger runs', async () => {
    await rows('t1,t2', 'x');
    await rows('t2,t1', 'y');
    const fires = async (_: unknown, { id }: { id: string }) => (id === 't1' ? fail('classMissing', 'Things') : true);
    await worldOf(store, { triggers: [trigger('t1', []), trigger('t2', [])], fires }).work();
    assert.deepEqual((await logged(store)).toSorted(), [
      ...['t1 - x Class Things does not exist.', 't1 - y Class Things does not exist.', 't2 - x ok', 't2 - y ok'],
    ]);
    assert.deepEqual(await left(store), []);
  });

  test('the record is as its snapshot has it, without fields that are gone, secrets and values that do not fit', async () => {
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

  test('a field that is renamed while the job waits has its value, in conditions and in actions, by either name', async () => {
    const rename = (from: string, to: string) =>
      store.write({
        plan: (schema) => ({
          changes: planTableChange(schema, 'Things', { fields: { [from]: { __op: 'Rename', to } } }),
          mutations: [],
        }),
      });
    const seen: unknown[] = [];
    const nameOf = (record: SnapshotRecord) => {
      const table = tableOf(store.schema(), 'Things');
      return record.valueOf(fieldOf(table, table.fields.has('title') ? 'title' : 'name'));
    };
    const triggers = [trigger('t', [makes('a'), makes('b')], { changedFields: ['name'] })];
    const world = worldOf(store, {
      triggers,
      async fires(_system, _trigger, _event, record, before) {
        const planned = fieldOf(tableOf(store.schema(), 'Things'), 'name');
        seen.push(nameOf(record));
        await rename('name', 'title');
        seen.push(nameOf(record), before && nameOf(before), record.valueOf(planned));
        return true;
      },
      async perform(run) {
        const values = new RecordValues(run.record, run.reading);
        if (run.action.id === 'b') await rename('title', 'heading');
        seen.push((await values.at(['name'])).value, run.record.fields.title);
        await finish(run);
      },
    });
    await queueRows(store, [
      { objectId: 'before0001', kind: 'before', objectIdValue: 'x', record: '["x","an earlier name"]' },
      { triggers: 't', objectIdValue: 'x', before: 'before0001' },
    ]);
    await world.work();
    assert.deepEqual(seen, [...['a name', 'a name', 'an earlier name', 'a name'], ...['a name', 'a name', 'a name', 'a name']]);
    assert.deepEqual(await left(store), []);
  });
});
