// Whether a store may stay closed, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { Engine, PendingRows } from '../../engine.ts';
import { type KnownStore, knownOf, newIdentity } from '../../identity.ts';
import type { Store } from '../../port.ts';
import { tableChanges } from './tables.ts';

const VERSION = 3;

/** Defines the tests. @param engine one without stores named `rest…` */
export function testRest(engine: Engine): void {
  /** Makes a store, closes it, and returns what a registry knows of it. */
  const make = async (appId: string, fill: (store: Store) => Promise<unknown> = async () => {}): Promise<KnownStore> => {
    const made = await engine.create(newIdentity(appId, appId, 'tests'));
    const changes = [
      ...tableChanges('_Rest', { n: 'Number', s: 'String' }),
      { kind: 'setTemplateVersion', version: VERSION } as const,
    ];
    await made.write({ plan: () => ({ changes, mutations: [] }) });
    await fill(made);
    await made.close();
    const known = async () => knownOf((await engine.inspect(appId)).identity ?? assert.fail(), appId);
    await (await engine.open(await known(), 'serving')).store.close();
    return known();
  };
  const isAtRest = async (known: KnownStore, wanted: readonly PendingRows[] = [{ className: '_Rest' }], version = VERSION) =>
    (await engine.atRest([known], version, wanted)).has(known.systemId);
  const add = (store: Store, s: string) =>
    store.write({
      plan(schema) {
        const table = tableOf(schema, '_Rest');
        const values = Object.entries({ objectId: s, createdAt: 1, updatedAt: 1, s });
        const columns = values.map(([name, value]) => [fieldOf(table, name), value] as const);
        return { changes: [], mutations: [{ kind: 'insert', table, values: columns }] };
      },
    });

  test('rest: a store without such rows is at rest, and is not changed by the look', async () => {
    const known = await make('rest1');
    assert.equal(await isAtRest(known), true);
    assert.equal(
      await isAtRest(known, [
        { className: '_Rest', field: 's' },
        { className: '_Rest', field: 'n' },
      ]),
      true,
    );
    assert.deepEqual(knownOf((await engine.inspect('rest1')).identity ?? assert.fail()), known);
  });

  test('rest: rows count by the field, and by its values', async () => {
    const known = await make('rest2', (store) => add(store, 'done'));
    assert.equal(await isAtRest(known), false);
    assert.equal(await isAtRest(known, [{ className: '_Rest', field: 'n' }]), true);
    assert.equal(
      await isAtRest(known, [
        { className: '_Rest', field: 'n' },
        { className: '_Rest', field: 's' },
      ]),
      false,
    );
    const valued = (...values: string[]) => isAtRest(known, [{ className: '_Rest', field: 's', values }]);
    assert.deepEqual([await valued('waiting', 'running'), await valued('waiting', 'done')], [true, false]);
  });

  test('rest: a store that is not as the registry knows it has to be opened', async () => {
    const known = await make('rest3');
    const others: Partial<KnownStore>[] = [
      { systemId: 'another' },
      { appId: 'another' },
      { birth: 'another' },
      { birth: null },
      { generation: known.generation + 1 },
      { damagedAt: 1 },
      { place: 'nowhere' },
    ];
    for (const other of others) assert.equal(await isAtRest({ ...known, ...other }), false, JSON.stringify(other));
    assert.equal(await isAtRest({ ...known, generation: known.generation - 1 }), true);
  });

  test('rest: a store of another version, or without such a table or field, has to be opened', async () => {
    const known = await make('rest4');
    for (const version of [VERSION - 1, VERSION + 1])
      assert.equal(await isAtRest(known, [{ className: '_Rest' }], version), false);
    assert.equal(await isAtRest(known, [{ className: '_Rest' }, { className: '_None' }]), false);
    assert.equal(await isAtRest(known, [{ className: '_Rest', field: 'none' }]), false);
  });

  test('rest: of several stores each is judged by itself', async () => {
    const [one, two] = [await make('rest6'), await make('rest7', (store) => add(store, 'x'))];
    const lost = { ...one, place: 'nowhere', systemId: 'lost' };
    const stores = [lost, one, two, { ...lost, systemId: 'last' }, { ...one, systemId: 'another' }];
    assert.deepEqual([...(await engine.atRest(stores, VERSION, [{ className: '_Rest' }]))], [one.systemId]);
    assert.deepEqual([...(await engine.atRest([], VERSION, [{ className: '_Rest' }]))], []);
  });

  test('rest: a store that was not put into force has to be opened', async () => {
    const made = await engine.create(newIdentity('rest5', 'rest5', 'tests'));
    const changes = [...tableChanges('_Rest', {}), { kind: 'setTemplateVersion', version: VERSION } as const];
    await made.write({ plan: () => ({ changes, mutations: [] }) });
    await made.close();
    assert.equal(await isAtRest(knownOf((await engine.inspect('rest5')).identity ?? assert.fail())), false);
  });
}
