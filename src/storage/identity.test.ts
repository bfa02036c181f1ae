/** Identities of stores on both engines (docs/adr/0020). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Engine } from './engine.ts';
import { type KnownStore, knownOf, newIdentity, StoreRefused } from './identity.ts';
import { PostgresEngine } from './postgres/index.ts';
import { testDatabase } from './postgres/testing/server.ts';
import { addressesOf } from './sql/testing/addresses.ts';
import { SqliteEngine } from './sqlite/index.ts';

interface Place {
  engine: Engine;
  remove(): Promise<void>;
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  async embedded() {
    const directory = mkdtempSync(join(tmpdir(), 'rds-identity-'));
    const engine = new SqliteEngine(directory, { timeLimit: 5_000, report: assert.fail, addressesOf });
    return { engine, remove: async () => rmSync(directory, { recursive: true }) };
  },
  async PostgreSQL() {
    const home = await testDatabase();
    const settings = { timeLimit: 5_000, connections: 8, report: () => {}, addressesOf };
    return { engine: await PostgresEngine.connect(home.url, settings), remove: () => home.drop() };
  },
};

for (const [name, make] of Object.entries(places))
  describe(`identity of stores (${name})`, () => {
    let place: Place;
    let engine: Engine;
    before(async () => {
      place = await make();
      engine = place.engine;
    });
    after(async () => {
      await engine.close();
      await place.remove();
    });

    /** Creates a store, in force or not. */
    async function made(appId: string, isInForce = true): Promise<KnownStore> {
      const identity = newIdentity(`id of ${appId}`, appId, 'salt');
      await (await engine.create(identity)).close();
      const known = knownOf(identity);
      if (isInForce) await (await engine.open(known, 'work')).store.close();
      return known;
    }

    const refusal = (known: KnownStore) =>
      engine.open(known, 'serving').then(
        async ({ store }) => {
          await store.close();
          return null;
        },
        (error) => {
          assert.ok(error instanceof StoreRefused, String(error));
          return error.why;
        },
      );

    test('opening makes nothing', async () => {
      const known = knownOf(newIdentity('x', 'nobody', 'salt'));
      assert.equal(await refusal(known), 'missing');
      assert.deepEqual([(await engine.inspect('nobody')).state, await engine.stored()], ['missing', []]);
    });

    test('a generation grows with each service, and not with other work', async () => {
      const known = await made('grows');
      const generations: number[] = [];
      for (const purpose of ['serving', 'work', 'serving', 'making'] as const) {
        const { store, identity } = await engine.open(known, purpose);
        await store.close();
        generations.push(identity.generation);
      }
      assert.deepEqual(generations, [2, 2, 3, 3]);
      assert.equal(await refusal({ ...known, generation: 3 }), null);
      assert.equal(await refusal({ ...known, generation: 99 }), 'older');
    });

    test('it grows once more when a service closes the store, so that a copy of its time is older', async () => {
      const known = await made('copied');
      const noted: number[] = [];
      const grown = async (generation: number) => void noted.push(generation);
      const { store, identity } = await engine.open(known, 'serving', grown);
      await store.close();
      assert.deepEqual(noted, [identity.generation + 1]);
      assert.equal((await engine.inspect('copied')).identity?.generation, noted[0]);
      const { store: atWork } = await engine.open(known, 'work', grown);
      await atWork.close();
      assert.equal(noted.length, 1);
    });

    test('another system, another birth and another application id are refused', async () => {
      const known = await made('whose');
      for (const other of [{ systemId: 'y' }, { birth: 'y' }]) assert.equal(await refusal({ ...known, ...other }), 'foreign');
      assert.equal(await refusal({ ...known, birth: null }), null);
      assert.equal(await refusal(known), null);
    });

    test('what is being made is created again by the same installation, and by no other', async () => {
      await made('half', false);
      await assert.rejects(engine.create(newIdentity('x', 'half', 'another salt')), /is there, and nothing says/);
      const { birth } = await made('half', false);
      assert.equal((await engine.inspect('half')).identity?.birth, birth);
    });

    test('what was in force once is not created again', async () => {
      const known = await made('force');
      await assert.rejects(engine.create(newIdentity('x', 'force', 'salt')), /is there, and nothing says/);
      assert.equal(await refusal(known), null);
    });

    test('only what the registry removed is removed: not another one, nor one that was used since', async () => {
      const known = await made('gone');
      assert.equal(await refusal(known), null);
      const { making = '' } = newIdentity('x', 'gone', 'salt');
      await assert.rejects(engine.remove('gone', { making: String(making) }), /nothing says/);
      await assert.rejects(engine.remove('gone', { ...known, birth: 'y' }), StoreRefused);
      await assert.rejects(engine.remove('gone', { ...known, systemId: 'y' }), StoreRefused);
      await assert.rejects(engine.remove('gone', known), /was used after the registry removed it: it is kept/);
      const now = (await engine.inspect('gone')).identity;
      assert.ok(now);
      await engine.remove('gone', knownOf(now));
      assert.equal((await engine.inspect('gone')).state, 'missing');
      await engine.remove('gone', known);
    });

    test('a store that got another identity is found under that alone', async () => {
      const known = await made('taken');
      const identity = { systemId: 'new', appId: 'taken', birth: 'new', generation: 7, making: null };
      await engine.identify(identity);
      assert.deepEqual([await refusal(known), await refusal(knownOf(identity))], ['foreign', null]);
      await assert.rejects(engine.identify({ ...identity, appId: 'nothing' }), StoreRefused);
    });

    test('all that is there is reported, but for what is known', async () => {
      const told = await engine.stored(new Set(['force', 'half', 'whose']));
      assert.deepEqual(
        told.map(({ name }) => name),
        ['copied', 'grows', 'taken'],
      );
    });
  });
