import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import { createRecord, deleteRecord, type RecordContext, readRow, updateRecord } from '../../records/index.ts';
import { switchOffDefinitions } from '../../records/read/trigger-definitions.ts';
import { masterContext } from '../../records/testing/context.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, columnsOf } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import { criteriaOf, triggerRules } from './index.ts';
import { activeTriggers } from './trigger-cache.ts';

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
    store = await openAnyway(engine, `app${systems}`);
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
    assert.ok(activeTriggers.isReady(store));
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
    assert.ok(activeTriggers.isReady(store));
  });

  test('of many only those that have changed are read', async () => {
    const [a, b] = [await make(), await make({ table: 'Sales' })];
    await activeTriggers.ready(store);
    const [first, second] = [activeTriggers.byId(store, a), activeTriggers.byId(store, b)];
    await updateRecord(context, '_Trigger', b, { Name: 'b' });
    await activeTriggers.ready(store);
    assert.ok(activeTriggers.byId(store, a) === first && activeTriggers.byId(store, b) !== second);
    assert.equal(activeTriggers.byId(store, b)?.name, 'b');
    // Dropping a table deactivates its triggers without changing `updatedAt`.
    await store.write({ plan: (schema) => ({ changes: [], mutations: switchOffDefinitions(schema, 'Sales') }) });
    await activeTriggers.ready(store);
    assert.deepEqual([idsOf('Sales'), activeTriggers.byId(store, b)?.isActive], [[], false]);
  });

  test('changes within one millisecond are distinguished, and a new author too', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const id = await make({ Name: 'a' });
    for (const name of ['b', 'c', 'd']) {
      await activeTriggers.ready(store);
      await updateRecord(context, '_Trigger', id, { Name: name });
      await activeTriggers.ready(store);
      assert.equal(activeTriggers.byId(store, id)?.name, name);
    }
    const authored = (schema: Schema): readonly Mutation[] => {
      const table = tableOf(schema, '_Trigger');
      const assignments = assignmentsOf(table, { _author: 'somebody' });
      return [{ kind: 'update', table, objectId: id, guard: null, assignments, returning: [] }];
    };
    await store.write({ plan: (schema) => ({ changes: [], mutations: authored(schema) }) });
    await activeTriggers.ready(store);
    assert.equal(activeTriggers.byId(store, id)?.author, 'somebody');
  });

  const refusal = (why: string) => ({ code: 107, message: `Invalid trigger: ${why}` });

  test('a system has so many definitions at the most, at once too', async () => {
    const all = await Promise.allSettled(Array.from({ length: 1_010 }, () => make({ Name: 'one of many' })));
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1_000);
    await activeTriggers.ready(store);
    await assert.rejects(make(), refusal('a system has at most 1,000 triggers'));
    const [{ id } = assert.fail()] = activeTriggers.of(store, 'Accounts');
    await updateRecord(context, '_Trigger', id, { Name: 'one of many others' });
    await deleteRecord(context, '_Trigger', id, {});
    await activeTriggers.ready(store);
    await make();
  });

  test('they have so many characters together', async () => {
    const mail = (length: number) => ({
      type: 'e-mail',
      actionData: { to: 'a@example.com', subject: 'x', html: 'x'.repeat(length) },
    });
    const long = () => make({ actions: Array.from({ length: 4 }, () => mail(990_000)) });
    const all = await Promise.allSettled(Array.from({ length: 6 }, long));
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 5);
    await activeTriggers.ready(store);
    await assert.rejects(long(), refusal('the triggers of a system have at most 20,000,000 characters'));
    const [{ id } = assert.fail()] = activeTriggers.of(store, 'Accounts');
    const longer = { actions: Array.from({ length: 5 }, () => mail(990_000)) };
    await assert.rejects(
      updateRecord(context, '_Trigger', id, longer),
      refusal('the triggers of a system have at most 20,000,000 characters'),
    );
    await updateRecord(context, '_Trigger', id, { actions: [mail(1)] });
    await activeTriggers.ready(store);
    await make({ actions: [mail(1)] });
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
