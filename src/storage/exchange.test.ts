/** A system takes the application id of another: the registries of both engines, and places of stores. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from './engine.ts';
import { knownOf, makerMark, newIdentity } from './identity.ts';
import { nameBeside, placePattern } from './places.ts';
import { InvalidationBus } from './postgres/cluster/invalidation.ts';
import { connectDatabase } from './postgres/connection/connect-database.ts';
import { PostgresEngine } from './postgres/index.ts';
import { PostgresRegistry } from './postgres/registry.ts';
import { testDatabase } from './postgres/testing/server.ts';
import type { Registry } from './registry.ts';
import { addressesOf } from './sql/testing/addresses.ts';
import { SqliteEngine, SqliteRegistry } from './sqlite/index.ts';
import { entryOf } from './testing/entry.ts';

interface Installation {
  readonly registry: Registry;
  /** As seen by another process. */
  readonly other: Registry;
  readonly engine: Engine;
  close(): Promise<void>;
}

const installations: Readonly<Record<string, () => Promise<Installation>>> = {
  async embedded() {
    const directory = mkdtempSync(join(tmpdir(), 'rds-exchange-'));
    const path = join(directory, 'registry.sqlite');
    const [registry, other] = [new SqliteRegistry(path), new SqliteRegistry(path)];
    const engine = new SqliteEngine(join(directory, 'systems'), { timeLimit: 5_000, report: assert.fail, addressesOf });
    return {
      registry,
      other,
      engine,
      async close() {
        await engine.close();
        for (const one of [registry, other]) one.close();
        rmSync(directory, { recursive: true });
      },
    };
  },
  async PostgreSQL() {
    const home = await testDatabase();
    const settings = { timeLimit: 5_000, connections: 8, report: () => {}, addressesOf };
    const engine = await PostgresEngine.connect(home.url, settings);
    const database = await connectDatabase(home.url, { timeLimit: 5_000 });
    return {
      registry: engine.registry,
      // A process gets no notice of its own changes, so this test checks each time.
      other: await PostgresRegistry.open(database, new InvalidationBus()),
      engine,
      async close() {
        await engine.close();
        await database.close();
        await home.drop();
      },
    };
  },
};

for (const [name, make] of Object.entries(installations))
  describe(`exchange of systems (${name})`, () => {
    let its: Installation;
    before(async () => {
      its = await make();
    });
    after(() => its.close());

    const add = (appId: string, more = {}, how = {}) =>
      its.registry.addSystem(entryOf(appId, more), [], async () => undefined, how);
    const keyOf = (appId: string, hash: string) => ({ appId, name: 'default', hash, createdAt: 1 });
    const inForce = (registry = its.registry) => registry.read().systems.map(({ id, appId, place }) => [id, appId, place]);
    const aside = (former: string) => its.registry.read().removed.filter(({ formerAppId }) => formerAppId === former);
    const exchange = { deleteAfter: 1_000, now: 1 };

    test('the one in force is put aside with its keys, under a name of its own, and the new one has its id at once', async () => {
      const first = entryOf('one', { id: 'first' });
      await its.registry.addSystem(first, [keyOf('one', 'old')], async () => newIdentity('first', 'one', 'salt'));
      const second = entryOf('one', { id: 'second', place: nameBeside('one') });
      const version = its.other.version();
      const added = its.registry.addSystem(second, [keyOf('one', 'new')], async () => undefined, { replace: exchange });
      assert.equal(await added, true);
      while (its.other.version() === version) {
        await wait(10);
        await its.other.whenCurrent();
      }
      assert.deepEqual(inForce(its.other), [['second', 'one', second.place]]);
      const [old] = its.registry.read().removed;
      assert.ok(old && placePattern.test(old.appId) && old.appId.startsWith('one~') && old.appId !== second.place);
      assert.deepEqual({ ...old }, { ...first, appId: old.appId, formerAppId: 'one', deleteAfter: 1_000 });
      const hashes = its.registry.read().keys.map(({ appId, hash }) => `${appId} ${hash}`);
      assert.deepEqual(hashes.sort(), ['one new', `${old.appId} old`]);
      const stores = await its.registry.stores();
      assert.deepEqual(stores.map(({ systemId, appId, place }) => [systemId, appId, place]).sort(), [
        ['first', 'one', 'one'],
        ['second', 'one', second.place],
      ]);
      assert.equal((await its.registry.storeOf(old.appId))?.systemId, 'first');
      assert.equal((await its.registry.storeOf('one'))?.systemId, 'second');
      await its.registry.forgetSystem('one');
      assert.equal(await add('ONE'), false, 'the application id of one that was put aside stays taken');
      await its.registry.forgetSystem(old.appId);
      assert.equal(await add('ONE'), true);
    });

    test('an addition that fails puts nothing aside; what is to be replaced need not be there', async () => {
      await its.registry.addSystem(entryOf('two'), [keyOf('two', 'old')], async () => undefined);
      const failing = () => Promise.reject(new Error('full'));
      const second = entryOf('two', { id: 'second two', place: nameBeside('two') });
      await assert.rejects(its.registry.addSystem(second, [], failing, { replace: exchange }), /full/);
      assert.ok(inForce().some(([id]) => id === 'two'));
      assert.deepEqual(aside('two'), []);
      assert.ok(its.registry.read().keys.some(({ appId }) => appId === 'two'));
      assert.equal(await add('new', { place: nameBeside('new') }, { replace: exchange }), true);
      assert.equal(await add('Two', { id: 'x', place: nameBeside('Two') }, { replace: exchange }), false);
      assert.equal(await add('three', { place: 'TWO' }), false, 'a place is had once');
    });

    test('one that was removed keeps its time, and one that is being deleted is not exchanged', async () => {
      await add('gone');
      await its.registry.removeSystem('gone', 500);
      const more = { id: 'gone 2', place: nameBeside('gone') };
      assert.equal(await add('gone', more, { replace: { deleteAfter: 1_000, now: 500 } }), false);
      assert.equal(await add('gone', more, { replace: { deleteAfter: 1_000, now: 499 } }), true);
      assert.deepEqual(
        aside('gone').map(({ id, deleteAfter }) => [id, deleteAfter]),
        [['gone', 500]],
      );
    });

    test('what was put aside comes back in exchange, to and fro, each with its own place and keys', async () => {
      await its.registry.addSystem(entryOf('back', { id: 'b1' }), [keyOf('back', 'k1')], async () => undefined);
      const second = entryOf('back', { id: 'b2', place: nameBeside('back') });
      await its.registry.addSystem(second, [keyOf('back', 'k2')], async () => undefined, { replace: exchange });
      for (const [inside, outside] of [
        ['b1', 'b2'],
        ['b2', 'b1'],
      ]) {
        const [old] = aside('back');
        assert.equal(await its.registry.restoreSystem(String(old?.appId), 1), false, 'one is in force');
        assert.equal(await its.registry.restoreSystem(String(old?.appId), 1, exchange), true);
        const found = its.registry.read().systems.find(({ appId }) => appId === 'back');
        assert.deepEqual([found?.id, found?.place], [inside, inside === 'b1' ? 'back' : second.place]);
        assert.deepEqual(
          aside('back').map(({ id }) => id),
          [outside],
        );
        const [key] = its.registry.read().keys.filter(({ appId }) => appId === 'back');
        assert.equal(key?.hash, inside === 'b1' ? 'k1' : 'k2');
      }
      // One was removed by name, the other put aside: the former gives way to the latter.
      const [first] = aside('back');
      await its.registry.removeSystem('back', 700);
      assert.equal(await its.registry.restoreSystem(String(first?.appId), 1), true);
      assert.deepEqual(
        aside('back').map(({ id, deleteAfter }) => [id, deleteAfter]),
        [['b2', 700]],
      );
      assert.equal(await its.registry.restoreSystem(String(aside('back')[0]?.appId), 700, exchange), false, 'it may be deleted');
    });

    test('a system is held, and goes on, once each', async () => {
      await add('held', { heldAt: 5 });
      const heldAt = () => its.registry.read().systems.find(({ appId }) => appId === 'held')?.heldAt;
      assert.equal(heldAt(), 5);
      assert.deepEqual([await its.registry.holdSystem('held', 9), heldAt()], [false, 5]);
      assert.deepEqual([await its.registry.holdSystem('held', null), heldAt()], [true, null]);
      assert.deepEqual([await its.registry.holdSystem('held', null), heldAt()], [false, null]);
      assert.deepEqual([await its.registry.holdSystem('held', 7), heldAt()], [true, 7]);
      await its.registry.removeSystem('held', 500);
      assert.equal(await its.registry.holdSystem('held', null), false);
      assert.equal(await its.registry.holdSystem('nobody', 1), false);
    });

    test('stores of one application id lie beside each other, and each is removed alone', async () => {
      const { engine } = its;
      const beside = nameBeside('app');
      const identities = ['a', 'b'].map((id) => newIdentity(id, 'app', 'salt'));
      const [a, b] = identities as [(typeof identities)[0], (typeof identities)[0]];
      const opened = [await engine.create(a), await engine.create(b, beside)];
      assert.deepEqual(
        opened.map(({ place }) => place),
        ['app', beside],
      );
      for (const store of opened) await store.close();
      const making = makerMark('salt');
      assert.deepEqual((await engine.unfinished(making, new Set())).toSorted(), ['app', beside]);
      assert.deepEqual(await engine.unfinished(making, new Set(['app'])), [beside]);
      assert.deepEqual(await engine.unfinished(makerMark('another'), new Set()), []);
      const { store } = await engine.open(knownOf(b, beside), 'work');
      await store.close();
      assert.deepEqual(await engine.unfinished(making, new Set()), ['app']);
      await engine.remove('app', { making });
      const states = async () => [(await engine.inspect('app')).state, (await engine.inspect(beside)).state];
      assert.deepEqual(await states(), ['missing', 'store']);
      assert.deepEqual(
        (await engine.stored()).map((one) => one.name),
        [beside],
      );
      await engine.remove(beside, knownOf(b, beside));
      assert.deepEqual(await states(), ['missing', 'missing']);
    });

    test('the place of a long application id is known, beside it too', async () => {
      const { engine } = its;
      const long = 'x'.repeat(64);
      const places = [long, nameBeside(long)];
      for (const place of places) await (await engine.create(newIdentity('long', long, 'salt'), place)).close();
      assert.deepEqual((await engine.unfinished(makerMark('salt'), new Set())).toSorted(), places.toSorted());
      for (const place of places) await engine.remove(place, { making: makerMark('salt') });
      assert.deepEqual(await engine.stored(), []);
    });

    test('a place is one process’s at a time', async () => {
      const { engine } = its;
      const [one, beside] = [await engine.lockPlace('locked'), await engine.lockPlace('free')];
      assert.ok(one && beside);
      assert.equal(await engine.lockPlace('locked'), null);
      await one.release();
      const again = await engine.lockPlace('locked');
      assert.ok(again);
      for (const lock of [again, beside]) await lock.release();
    });
  });
