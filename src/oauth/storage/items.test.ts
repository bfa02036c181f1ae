import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { errors } from 'oidc-provider';
import pg from 'pg';
import { serviceError } from '../../errors/fail.ts';
import { readRows } from '../../records/index.ts';
import type { Engine } from '../../storage/engine.ts';
import type { Store } from '../../storage/port.ts';
import { PostgresEngine } from '../../storage/postgres/index.ts';
import { testDatabase } from '../../storage/postgres/testing/server.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/engine.ts';
import { openMigrated } from '../../systems/testing/open.ts';
import { openKeys } from '../keys.ts';
import { ItemAdapter } from './adapter.ts';
import { ItemEncryption, keyOf } from './encryption.ts';
import { OpenItems } from './item-limits.ts';
import { Items, itemTable, sweepItems } from './items.ts';

interface Place {
  readonly engine: Engine;
  /** Of the database, if the engine has one. */
  readonly url: string | null;
  close(): Promise<void>;
}

async function embedded(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-items-'));
  const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
  return placeOf(engine, null, () => rmSync(directory, { recursive: true }));
}

async function postgres(): Promise<Place> {
  const database = await testDatabase();
  const engine = await PostgresEngine.connect(database.url, {
    timeLimit: 10_000,
    connections: 6,
    report: assert.fail,
    addressesOf,
  });
  return placeOf(engine, database.url, () => database.drop());
}

const placeOf = (engine: Engine, url: string | null, remove: () => void | Promise<void>): Place => ({
  engine,
  url,
  async close() {
    await engine.close();
    await remove();
  },
});

const now = () => Math.floor(Date.now() / 1_000);
const never = () => false;

for (const [name, make] of [
  ['the embedded engine', embedded],
  ['PostgreSQL', postgres],
] as const)
  describe(`items on ${name}`, () => {
    let place: Place;
    let store: Store;
    let items: Items;
    before(async () => {
      place = await make();
      // Uses a migrated table, which must equal that of a new system.
      store = await openMigrated(place.engine, 'items');
      items = new Items(store, new ItemEncryption('secret', 'items'));
      bound = new OpenItems(store);
    });
    after(async () => {
      await store.close();
      await place.close();
    });
    /** The network of items that are created without sign-in. */
    const network = '';
    const open = { items: { added: (kind: string) => bound.added(kind) }, network: () => network };
    let bound: OpenItems;
    const adapter = (kind: string) => new ItemAdapter(items, kind, open);
    const rows = () =>
      readRows<Record<string, unknown>>(store, {
        className: itemTable,
        fields: ['objectId', 'kind', 'payload', 'family', 'uid'],
        filter: () => ({ kind: 'always' }),
      });
    const grantFor = async (id: string) => {
      await adapter('Grant').upsert(
        id,
        { jti: id, kind: 'Grant', accountId: 'dana', clientId: `client-${id}`, exp: now() + 100 },
        100,
      );
      return id;
    };
    const tokenOf = (grantId: string, id: string) =>
      adapter('RefreshToken').upsert(id, { jti: id, kind: 'RefreshToken', grantId, exp: now() + 100, accountId: 'dana' }, 100);

    it('are found as they were kept, and nobody finds them in the database', async () => {
      const grantId = await grantFor('found-grant-id');
      await tokenOf(grantId, 'found-token-id');
      const found = await adapter('RefreshToken').find('found-token-id');
      assert.deepEqual(
        [found?.jti, found?.grantId, found?.accountId, found?.consumed],
        ['found-token-id', grantId, 'dana', undefined],
      );
      assert.equal(typeof found?.exp, 'number');
      const text = JSON.stringify(await rows());
      for (const secret of ['found-token-id', 'found-grant-id', 'dana']) assert.equal(text.includes(secret), false);
      assert.equal(await adapter('AuthorizationCode').find('found-token-id'), undefined);
    });

    it('of another installation, or moved to another row, are none', async () => {
      await tokenOf(await grantFor('sealed'), 'sealed-token');
      const foreign = new Items(store, new ItemEncryption('another secret', 'items'));
      assert.equal(await foreign.read('RefreshToken', 'sealed-token'), null);
      const encryption = new ItemEncryption('secret', 'items');
      assert.equal(encryption.decrypt(encryption.encrypt('x', 'here'), 'there'), null);
      assert.equal(encryption.decrypt(encryption.encrypt('x', 'here'), 'here'), 'x');
      assert.equal(new ItemEncryption('secret', 'other').decrypt(encryption.encrypt('x', 'here'), 'here'), null);
      assert.equal(encryption.decrypt('', 'here'), null);
    });

    it('take the place of those before', async () => {
      const session = adapter('Session');
      await session.upsert('s1', { jti: 's1', uid: 'u1', accountId: 'dana', exp: now() + 100 }, 100);
      await session.upsert('s1', { jti: 's1', uid: 'u1', accountId: 'omer', exp: now() + 100 }, 100);
      assert.equal((await session.find('s1'))?.accountId, 'omer');
      assert.equal((await session.findByUid('u1'))?.accountId, 'omer');
      assert.equal((await session.findByUid('u1'))?.jti, undefined);
      await session.destroy('s1');
      assert.equal(await session.findByUid('u1'), undefined);
      await Promise.all([1, 2, 3].map((n) => session.upsert('s2', { jti: 's2', uid: `u${n}`, exp: now() + 100 }, 100)));
      assert.ok(await session.find('s2'));
    });

    it('are used once; the second use takes the whole family', async () => {
      const grantId = await grantFor('family');
      await tokenOf(grantId, 'family-1');
      await tokenOf(grantId, 'family-2');
      await tokenOf(await grantFor('neighbour'), 'neighbour-1');
      await adapter('RefreshToken').consume('family-1');
      assert.equal(typeof (await adapter('RefreshToken').find('family-1'))?.consumed, 'number');
      await assert.rejects(adapter('RefreshToken').consume('family-1'), errors.InvalidGrant);
      for (const [kind, id] of [
        ['RefreshToken', 'family-1'],
        ['RefreshToken', 'family-2'],
        ['Grant', grantId],
      ] as const)
        assert.equal(await adapter(kind).find(id), undefined);
      assert.ok(await adapter('RefreshToken').find('neighbour-1'));
      await assert.rejects(tokenOf(grantId, 'family-3'), errors.InvalidGrant);
      await assert.rejects(adapter('RefreshToken').consume('nothing'), errors.InvalidGrant);
    });

    it('that are used as the store fails are used once, and what comes of it is kept when the store is back', async (t) => {
      const grantId = await grantFor('doubt');
      await tokenOf(grantId, 'doubt-1');
      const write = store.write.bind(store);
      const faults: ('before' | 'after' | 'away')[] = [];
      t.mock.method(store, 'write', async (prepared: Parameters<Store['write']>[0]) => {
        const fault = faults.shift();
        if (fault === 'away') throw serviceError('unavailable');
        const outcome = fault === 'before' ? undefined : await write(prepared);
        if (fault) throw serviceError('outcomeUnknown');
        return outcome;
      });
      for (const [n, given] of (['after', 'before', ['after', 'away']] as const).entries()) {
        faults.push(...[given].flat());
        await adapter('RefreshToken').consume(`doubt-${n + 1}`);
        faults.push('away', 'after');
        await tokenOf(grantId, `doubt-${n + 2}`);
        assert.ok(await adapter('RefreshToken').find(`doubt-${n + 2}`));
      }
      faults.push('away');
      await assert.rejects(adapter('RefreshToken').consume('doubt-4'), { key: 'unavailable' });
      faults.push('before');
      await assert.rejects(adapter('RefreshToken').consume('doubt-1'), errors.InvalidGrant);
      assert.equal(await adapter('Grant').find(grantId), undefined);
    });

    it('of many uses at a time one is the first', async () => {
      const grantId = await grantFor('race');
      await tokenOf(grantId, 'race-1');
      const uses = await Promise.allSettled(Array.from({ length: 8 }, () => adapter('RefreshToken').consume('race-1')));
      assert.equal(uses.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal(await adapter('Grant').find(grantId), undefined);
    });

    it('that others keep again and again are waited for, and not told of as revoked', async (t) => {
      let taken = 15;
      let passedMs = 0;
      const clock = performance.now.bind(performance);
      t.mock.method(performance, 'now', () => clock() + passedMs);
      const write = store.write.bind(store);
      t.mock.method(store, 'write', async (prepared: Parameters<Store['write']>[0]) => {
        if (taken-- > 0) {
          passedMs += 500;
          throw serviceError('duplicateValue');
        }
        return write(prepared);
      });
      const keep = () => adapter('Session').upsert('crowded', { jti: 'crowded', uid: 'u', exp: now() + 100 }, 100);
      await keep();
      assert.ok(await adapter('Session').find('crowded'));
      taken = 100;
      await assert.rejects(keep(), { key: 'unavailable' });
      assert.ok(passedMs > 10_000 && taken > 60, `given up after ${passedMs} ms`);
    });

    // Otherwise writes run one after another.
    if (name === 'PostgreSQL')
      it('that are being kept as their grant goes fall with it', async () => {
        assert.ok(place.url);
        const grantId = await grantFor('going');
        await tokenOf(grantId, 'going-1');
        const sql = new pg.Client({ connectionString: place.url });
        await sql.connect();
        const found = await sql.query(
          `SELECT format('%I.%I', schemaname, tablename) AS table FROM pg_tables WHERE tablename ~ '_OAuthItem$'`,
        );
        const { table } = found.rows[0];
        await sql.query('BEGIN');
        await sql.query(`SELECT 1 FROM ${table} WHERE "objectId" = $1 FOR SHARE`, [keyOf('Grant', grantId)]);
        const gone = adapter('Grant').destroy(grantId);
        const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        while ((await sql.query(waiting)).rows.length === 0) await pause(5);
        await sql.query(
          `INSERT INTO ${table} ("objectId", "createdAt", "updatedAt", kind, family)
         SELECT 'late', "createdAt", "updatedAt", kind, family FROM ${table} WHERE "objectId" = $1`,
          [keyOf('RefreshToken', 'going-1')],
        );
        await sql.query('COMMIT');
        await sql.end();
        await gone;
        assert.deepEqual(
          (await rows()).filter(({ family }) => family === keyOf('Grant', grantId)),
          [],
        );
      });

    it('without a grant go with their family too', async () => {
      const grantId = await grantFor('lonely');
      await tokenOf(grantId, 'lonely-1');
      await items.remove('Grant', grantId);
      await adapter('Grant').destroy(grantId);
      assert.equal(await adapter('RefreshToken').find('lonely-1'), undefined);
    });

    it('fall with their grant, which may be moved on', async () => {
      const grantId = await grantFor('ends');
      await tokenOf(grantId, 'ends-1');
      const key = keyOf('Grant', grantId);
      assert.equal(await items.exists('Grant', key), true);
      assert.equal(await items.exists('RefreshToken', key), false);
      assert.equal(await items.extend('Grant', grantId, Date.now() + 500_000), true);
      assert.ok(((await adapter('Grant').find(grantId))?.exp ?? 0) > now() + 400);
      await adapter('RefreshToken').revokeByGrantId(grantId);
      assert.equal(await items.exists('Grant', key), false);
      assert.equal(await adapter('RefreshToken').find('ends-1'), undefined);
      assert.equal(await items.extend('Grant', grantId, Date.now()), false);
    });

    it('that have ended are none, and are swept; a client is kept once it has a grant', async () => {
      const client = (id: string) => adapter('Client').upsert(id, { client_id: id });
      await client('client-used');
      await client('client-unused');
      await grantFor('used');
      await adapter('Interaction').upsert('over', { jti: 'over', exp: now() - 1 }, 1);
      assert.equal(await adapter('Interaction').find('over'), undefined);
      // As if a day had passed.
      for (const id of ['client-used', 'client-unused'])
        await store.write({
          plan: (schema) => {
            const table = schema.tables.get(itemTable) ?? assert.fail();
            const [objectId, expiresAt] = ['objectId', 'expiresAt'].map((field) => table.fields.get(field) ?? assert.fail());
            assert.ok(objectId && expiresAt);
            const isHere = { kind: 'compare', field: objectId, op: 'eq', value: keyOf('Client', id) } as const;
            const hasEnd = { kind: 'exists', ref: { field: expiresAt, path: [] } } as const;
            const filter = { kind: 'and', items: [isHere, hasEnd] } as const;
            return {
              changes: [],
              mutations: [
                { kind: 'updateAll', table, filter, assignments: [{ kind: 'set', field: expiresAt, value: Date.now() - 1 }] },
              ],
            };
          },
        });
      const before = (await rows()).length;
      await sweepItems(store, never);
      assert.equal((await rows()).length, before - 2);
      assert.deepEqual(await adapter('Client').find('client-used'), { client_id: 'client-used' });
      assert.equal(await adapter('Client').find('client-unused'), undefined);
    });

    it('that are moved on while they are swept stay', async (t) => {
      const made = await Promise.all(['swept', 'moved'].map(grantFor));
      for (const id of made) await items.extend('Grant', id, Date.now() - 1_000);
      const write = store.write.bind(store);
      const slow = t.mock.method(store, 'write', async (prepared: Parameters<Store['write']>[0]) => {
        slow.mock.restore();
        await items.extend('Grant', 'moved', Date.now() + 100_000);
        return write(prepared);
      });
      await sweepItems(store, never);
      const left = await Promise.all(made.map((id) => items.exists('Grant', keyOf('Grant', id))));
      assert.deepEqual(left, [false, true]);
      assert.equal(
        (await rows()).some(({ objectId }) => objectId === keyOf('Grant', 'swept')),
        false,
      );
    });

    it('keys are made once, and again where they cannot be read', async () => {
      const made = await Promise.all([1, 2, 3].map(() => openKeys(items)));
      for (const keys of made) assert.deepEqual(keys, made[0]);
      assert.deepEqual(await openKeys(items), made[0]);
      const moved = new Items(store, new ItemEncryption('another secret', 'items'));
      const [first, second] = await Promise.all([openKeys(moved), openKeys(moved)]);
      assert.deepEqual(first, second);
      assert.notDeepEqual(first, made[0]);
    });
  });
