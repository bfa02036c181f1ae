import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { anonymous } from '../../access/index.ts';
import { serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { fieldOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import type { RuledWrite, WriteObserver } from '../context/write-hooks.ts';
import { readRows } from '../read/system-reads.ts';
import { masterContext } from '../testing/context.ts';
import { checkWrites, createAtomically, writeAtomically } from './batch-write.ts';
import { createRecord } from './create.ts';
import type { OnlyIf } from './precondition.ts';
import { updateRecord } from './update.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-create-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
let store: Store;

before(async () => {
  store = await openAnyway(engine, 'app');
  await createRecord(masterContext(store), 'Leads', { Name: 'first' });
});
after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

const everything = { filter: () => ({ kind: 'always' }) as const };
const names = async (className: string) =>
  (await readRows<{ Name?: string }>(store, { className, fields: ['Name'], ...everything })).map(({ Name }) => Name);

test('records that are created together are all there, or none; a later one may bring what an earlier one brings, too', async () => {
  const context = masterContext(store);
  const created = await createAtomically(context, [
    { className: 'Twins', body: { Name: 'one', Size: 1 }, objectId: 'chosen0001' },
    { className: 'Twins', body: { Name: 'two', Size: 2, More: true } },
  ]);
  assert.equal(created[0]?.objectId, 'chosen0001');
  assert.deepEqual(await names('Twins'), ['one', 'two']);
  await assert.rejects(
    createAtomically(context, [
      { className: 'Twins', body: { Name: 'three', Other: 1 } },
      { className: 'Twins', body: { Size: 'text' } },
    ]),
    { code: 111 },
  );
  await assert.rejects(
    createAtomically(context, [
      { className: 'Twins', body: { Name: 'three' } },
      { className: 'Twins', body: {}, objectId: 'chosen0001' },
    ]),
    { code: 137 },
  );
  assert.deepEqual(await names('Twins'), ['one', 'two']);
  assert.ok(!store.schema().tables.get('Twins')?.fields.has('Other'));
});

test('writes of one turn of the event loop are carried out in their order, however many steps each takes before it is planned', async () => {
  const rules = {
    async create({ fields }: RuledWrite) {
      for (let steps = 50; steps > 0; steps--) await undefined;
      return { fields };
    },
  };
  const slow = masterContext(store, new Map([['Ordered', rules]]));
  const quick = masterContext(store);
  const together = { className: 'Ordered', body: { Name: '3' } };
  await Promise.all([
    createRecord(slow, 'Ordered', { Name: '1' }),
    createRecord(quick, 'Ordered', { Name: '2' }),
    createAtomically(slow, [together, { ...together, body: { Name: '4' } }]),
    createRecord(quick, 'Ordered', { Name: '5' }),
  ]);
  assert.deepEqual(await names('Ordered'), ['1', '2', '3', '4', '5']);
});

test('observers hear of a write of which nobody knows whether it was carried out', async () => {
  const told: string[] = [];
  let isAway = true;
  const lossy = Object.create(store, {
    write: {
      value: async (write: Parameters<Store['write']>[0]) => {
        const outcome = await store.write(write);
        if (isAway) throw serviceError('unavailable');
        return outcome;
      },
    },
  }) as Store;
  const context = masterContext(lossy);
  const observer: WriteObserver = {
    committed: ({ objectId }) => told.push(`committed ${objectId}`),
    inDoubt: ({ objectId }) => told.push(`doubted ${objectId}`),
  };
  const hooks = { ...context.hooks, observers: [observer] };
  const create = (objectId: string) =>
    createAtomically({ ...context, hooks }, [{ className: 'Lost', body: { Name: 'a' }, objectId }]);
  await assert.rejects(create('lost000001'), { key: 'unavailable' });
  isAway = false;
  await assert.rejects(create('lost000001'), { code: 137 });
  await create('known00001');
  assert.deepEqual(told, ['doubted lost000001', 'committed known00001']);
});

test('a caller who keeps the schema makes no field and no table', async () => {
  const context = { ...masterContext(store), keepsSchema: true as const };
  await createRecord(context, 'Leads', { Name: 'second', Gone: 1, 'Gone.deep': 1 });
  assert.deepEqual(await names('Leads'), ['first', 'second']);
  assert.ok(!store.schema().tables.get('Leads')?.fields.has('Gone'));
  await assert.rejects(createRecord(context, 'Nothing', { Name: 'a' }), { code: 103 });
  await assert.rejects(
    createAtomically(context, [
      { className: 'Leads', body: { Name: 'third' } },
      { className: 'Nothing', body: {} },
    ]),
    { code: 103 },
  );
  assert.deepEqual(await names('Leads'), ['first', 'second']);
});

test('creates, updates and deletes of one commit: all of them or none, in their order', async () => {
  const context = masterContext(store);
  const [kept, gone] = await createAtomically(context, [
    { className: 'Mixed', body: { Name: 'kept' } },
    { className: 'Mixed', body: { Name: 'gone' } },
  ]);
  assert.ok(kept && gone);
  const written = await writeAtomically(context, [
    { kind: 'create', className: 'Mixed', body: { Name: 'new' }, objectId: 'chosen0002' },
    { kind: 'update', className: 'Mixed', objectId: kept.objectId, body: { Name: 'changed' } },
    { kind: 'update', className: 'Mixed', objectId: 'chosen0002', body: { Name: 'newer' } },
    { kind: 'delete', className: 'Mixed', objectId: gone.objectId, body: {} },
  ]);
  assert.deepEqual(
    written.map(({ objectId }) => objectId),
    ['chosen0002', kept.objectId, 'chosen0002', gone.objectId],
  );
  assert.deepEqual(await names('Mixed'), ['changed', 'newer']);
  await assert.rejects(
    writeAtomically(context, [
      { kind: 'update', className: 'Mixed', objectId: kept.objectId, body: { Name: 'again' } },
      { kind: 'delete', className: 'Mixed', objectId: gone.objectId, body: {} },
    ]),
    { code: 101 },
  );
  assert.deepEqual(await names('Mixed'), ['changed', 'newer']);
});

test('schema changes are of the same commit as the records that come with them', async () => {
  const context = masterContext(store);
  const field = { kind: 'addField', className: 'Leads', name: 'Grown', type: 'String' } as const;
  const failing = { kind: 'create', className: 'Leads', body: { Grown: { no: 'text' } } } as const;
  await assert.rejects(
    writeAtomically(context, [failing], () => [field]),
    { code: 111 },
  );
  assert.ok(!store.schema().tables.get('Leads')?.fields.has('Grown'));
  const fitting = { kind: 'create', className: 'Leads', body: { Name: 'grown', Grown: 'text' } } as const;
  await writeAtomically(context, [fitting], () => [field]);
  assert.ok(store.schema().tables.get('Leads')?.fields.has('Grown'));
  assert.equal((await names('Leads')).at(-1), 'grown');
});

test('writes that are only checked fail as they would, and leave nothing', async () => {
  const context = masterContext(store);
  const make = (body: JsonObject) => ({ kind: 'create', className: 'Unborn', body }) as const;
  await checkWrites(context, [make({ Size: 1 })]);
  await assert.rejects(checkWrites(context, [make({ Size: 1 }), make({ Size: 'text' })]), { code: 111 });
  await assert.rejects(checkWrites({ ...context, principal: anonymous }, [make({})]), { code: 119 });
  assert.ok(!store.schema().tables.has('Unborn'));
});

test('a record is changed only as long as a condition holds; who meets another state hears that it has changed', async () => {
  const context = masterContext(store);
  const { objectId } = await createRecord(context, 'Guarded', { Version: '1' });
  const at = (version: string): { onlyIf: OnlyIf } => {
    return { onlyIf: (table) => ({ kind: 'compare', field: fieldOf(table, 'Version'), op: 'eq', value: version }) };
  };
  const outcomes = await Promise.allSettled([
    updateRecord(context, 'Guarded', objectId, { Version: '2' }, at('1')),
    updateRecord(context, 'Guarded', objectId, { Version: '2' }, at('1')),
  ]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  await assert.rejects(updateRecord(context, 'Guarded', objectId, { Version: '3' }, at('1')), {
    key: 'changedMeanwhile',
    code: 409,
  });
  await assert.rejects(updateRecord(context, 'Guarded', 'nobody0001', { Version: '3' }, at('1')), { code: 101 });
});
