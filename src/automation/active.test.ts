import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { JsonObject } from '../kernel/json.ts';
import { createRecord, deleteRecord, type RecordContext, readRow, updateRecord } from '../records/index.ts';
import { masterContext } from '../records/testing/context.ts';
import { tableOf } from '../schema/model.ts';
import { columnsOf } from '../storage/columns.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/index.ts';
import { provision } from '../systems/provision.ts';
import { activeTriggers } from './active.ts';
import { criteriaOf, triggerRules } from './definition/index.ts';

describe('active triggers on the embedded engine', () => {
  let directory = '';
  let engine: SqliteEngine;
  let store: Store;
  let context: RecordContext;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rds-triggers-'));
    engine = new SqliteEngine(directory, { timeLimit: 30_000, report: assert.fail, addressesOf });
  });
  after(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });
  let systems = 0;
  beforeEach(async () => {
    systems++;
    store = await engine.open(`app${systems}`);
    await provision(store);
    context = masterContext(store, new Map([['_Trigger', triggerRules]]));
  });
  afterEach(() => store.close());

  const make = async (fields: JsonObject = {}): Promise<string> => {
    const body = { table: 'Accounts', events: ['update'], actions: [], ...fields };
    return (await createRecord(context, '_Trigger', body)).objectId;
  };
  const idsOf = (className: string) => activeTriggers.of(store, className).map(({ id }) => id);

  test('they are read once, and again when one is written', async () => {
    assert.deepEqual(idsOf('Accounts'), []);
    await activeTriggers.ready(store);
    assert.equal(activeTriggers.ready(store), undefined);
    const [a, b, off] = [await make(), await make({ Name: 'b' }), await make({ Active: false })];
    const other = await make({ table: 'Sales' });
    assert.deepEqual(idsOf('Accounts'), []);
    const [first, second] = [activeTriggers.ready(store), activeTriggers.ready(store)];
    assert.ok(first && first === second);
    await first;
    assert.deepEqual([idsOf('Accounts'), idsOf('Sales'), idsOf('Cases')], [[a, b], [other], []]);
    assert.equal(activeTriggers.byId(store, off)?.isActive, false);
    await updateRecord(context, '_Trigger', a, { Active: false });
    await deleteRecord(context, '_Trigger', b, {});
    await activeTriggers.ready(store);
    assert.deepEqual([idsOf('Accounts'), activeTriggers.byId(store, b)], [[], undefined]);
    await createRecord(context, 'Accounts', { Name: 'x' });
    assert.equal(activeTriggers.ready(store), undefined);
  });

  test('rows that are no definitions are passed over', async () => {
    const id = await make();
    await store.write({
      plan(schema) {
        const table = tableOf(schema, '_Trigger');
        const values = { objectId: 'bbbbbbbbbb', createdAt: 1, updatedAt: 1, table: 'Accounts', actions: '"x"', Active: true };
        return { changes: [], mutations: [{ kind: 'insert', table, values: columnsOf(table, values) }] };
      },
    });
    await activeTriggers.ready(store);
    assert.deepEqual(idsOf('Accounts'), [id]);
    assert.equal(activeTriggers.byId(store, 'bbbbbbbbbb')?.isActive, false);
    await updateRecord(context, '_Trigger', 'bbbbbbbbbb', { Active: false, Name: 'switched off' });
    await assert.rejects(updateRecord(context, '_Trigger', 'bbbbbbbbbb', { Active: true }), { code: 107 });
  });

  test('criteria are parsed once for a schema, but for those that count from now', async () => {
    await make({ criteria: { Name: { $in: ['a', 'b'] } } });
    await make({ criteria: { createdAt: { $gt: { $relativeTime: '1 day ago' } } } });
    await activeTriggers.ready(store);
    const parsed = () => {
      const schema = store.schema();
      return activeTriggers.of(store, 'Accounts').map((trigger) => criteriaOf(trigger, tableOf(schema, 'Accounts'), schema));
    };
    const [[fixed, moving], [again, moved]] = [parsed(), parsed()];
    assert.ok(fixed === again && moving !== moved);
    await createRecord(context, 'Accounts', { NewField: 1 });
    assert.ok(parsed()[0] !== fixed);
  });

  test('what the service notes of a schedule follows the definition', async () => {
    const timing = ['nextRun', 'lastRun', '_cursor'];
    const schedule = { cron: '0 0 9 1 1 *', timezone: 'Asia/Jerusalem' };
    const id = await make({ events: ['schedule'], schedule, lastRun: 'x' });
    const read = () => readRow<JsonObject>(store, '_Trigger', timing, id);
    const note = (values: Record<string, string | number | null>) =>
      store.write({
        plan(schema) {
          const table = tableOf(schema, '_Trigger');
          const assignments = columnsOf(table, values).map(([field, value]) => ({ kind: 'set', field, value }) as const);
          return { changes: [], mutations: [{ kind: 'update', table, objectId: id, guard: null, assignments, returning: [] }] };
        },
      });
    const next = (await read())?.nextRun;
    assert.match(JSON.stringify(next), /-01-01T07:00:00.000Z/);
    await note({ nextRun: 1, _cursor: 'c' });
    await updateRecord(context, '_Trigger', id, { Name: 'a', Active: true, nextRun: null, lastRun: 5, schedule });
    assert.deepEqual(await read(), { nextRun: { __type: 'Date', iso: '1970-01-01T00:00:00.001Z' }, _cursor: 'c' });
    await updateRecord(context, '_Trigger', id, { Active: false });
    assert.deepEqual(await read(), { _cursor: 'c' });
    await updateRecord(context, '_Trigger', id, { Active: { __op: 'Delete' } });
    assert.deepEqual(await read(), { nextRun: next, _cursor: 'c' });
    await updateRecord(context, '_Trigger', id, { table: 'Sales' });
    assert.deepEqual(await read(), { nextRun: next });
  });
});
