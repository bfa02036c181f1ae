import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isInDoubt, isPassing, isUnavailable } from '../../errors/fail.ts';
import type { Condition, PreparedWrite } from '../port.ts';
import { openAnyway } from '../testing/open.ts';
import { PostgresEngine } from './engine.ts';
import type { PostgresStore } from './store.ts';
import { TestProxy } from './testing/proxy.ts';
import { query, type TestDatabase, testDatabase } from './testing/server.ts';

/** Maximum recovery time after an outage (faults.md#passing-faults), plus a margin for a loaded machine, in milliseconds. */
const RECOVERY_LIMIT_MS = 2_000 + 1_000;

describe('PostgreSQL behind a line that fails', () => {
  let place: TestDatabase;
  let proxy: TestProxy;
  let engine: PostgresEngine;
  let store: PostgresStore;
  const told: string[] = [];

  before(async () => {
    place = await testDatabase();
    proxy = await TestProxy.before(place.url);
    engine = await PostgresEngine.connect(proxy.url, {
      timeLimit: 30_000,
      connections: 12,
      report: () => {},
      conditions: {
        met: (what, about) => told.push(`${what} ${about?.app ?? ''}: met`),
        over: (about, what) => told.push(`${what} ${about?.app ?? ''}: over`),
      },
      addressesOf: () => ({ publicUrl: '', privateUrl: '' }) as never,
    });
    store = (await openAnyway(engine, 'one')) as PostgresStore;
    await store.write(change);
  });
  after(async () => {
    proxy.speak();
    await store.close();
    await engine.close();
    proxy.close();
    await place.drop();
  });

  const change: PreparedWrite = {
    plan: (schema) => ({
      changes: schema.tables.has('A') ? [] : [{ kind: 'createTable', className: 'A' }],
      mutations: [],
    }),
  };
  let last = 0;
  /** A write: one row of `rds_keys`, by a condition. */
  const write = (name = '') => {
    last++;
    const conditions: Condition[] = [{ kind: 'unchanged', versions: [{ slot: last, writer: '' }], writer: name || `w${last}` }];
    return store.write({ plan: () => ({ conditions, changes: [], mutations: [] }) });
  };
  const request = async () => {
    await store.whenCurrent();
    await write();
  };
  /** Clients with continuous requests, and the outcome of each request. */
  const clients = (count: number) => {
    const ended: { began: number; at: number; error: unknown }[] = [];
    let going = true;
    const all = Array.from({ length: count }, async () => {
      while (going) {
        const began = performance.now();
        const error = await request().then(
          () => undefined,
          (reason) => reason,
        );
        ended.push({ began, at: performance.now(), error });
        await delay(20);
      }
    });
    const stop = () => {
      going = false;
      return Promise.all(all);
    };
    return { ended, stop };
  };

  const refuse = () => {
    proxy.refuse();
    proxy.cut();
  };

  for (const [what, milliseconds, begin, end] of [
    ['a black hole of a second', 1_000, () => proxy.silence(), () => proxy.speak()],
    ['a black hole', 6_000, () => proxy.silence(), () => proxy.speak()],
    ['a black hole after which all lines are dead', 6_000, () => proxy.silence(), () => proxy.strand()],
    ['lines that die silently', 0, () => {}, () => proxy.strand()],
    ['lines that are cut', 0, () => {}, () => proxy.cut()],
    ['a server that refuses connections', 3_000, () => refuse(), () => proxy.accept()],
  ] as const)
    test(`${what}: requests and notices work again soon, and what waited is answered`, async () => {
      await Promise.all(Array.from({ length: 8 }, request));
      const busy = clients(6);
      await delay(300);
      begin();
      await delay(milliseconds);
      await end();
      const over = performance.now();
      await delay(RECOVERY_LIMIT_MS);
      const back = performance.now();
      await Promise.all(Array.from({ length: 8 }, request));
      await store.whenBack();
      await engine.probe();
      assert.ok(performance.now() - back < 2_000, `${performance.now() - back} ms`);
      await busy.stop();
      for (const { began, at, error } of busy.ended) {
        if (error !== undefined) assert.ok(isPassing(error), String(error));
        if (error !== undefined) assert.ok(began < over + RECOVERY_LIMIT_MS, `refused ${began - over} ms after the end`);
        if (began < over) assert.ok(at < over + RECOVERY_LIMIT_MS + 500, `answered ${at - over} ms after the end`);
      }
      assert.ok(busy.ended.some(({ began, error }) => began > over && error === undefined));
    });

  test('a write whose commit had gone out is in doubt, soon, also where its line stays and is silent; else nothing was done', async () => {
    for (const [point, inDoubt] of [
      ['before', true],
      ['sent', true],
      ['done', true],
      ['mute', true],
    ] as const) {
      await request();
      proxy.breakCommits({ point, times: 1, about: /rds_keys/ });
      const began = performance.now();
      const error = await write(point).catch((reason) => reason);
      assert.equal(isInDoubt(error), inDoubt, `${point} ${error}`);
      assert.ok(performance.now() - began < 5_000, `${point} ${performance.now() - began} ms`);
      proxy.mend();
      await store.whenBack();
      await request();
      const [row] = (await query(place.url, `SELECT count(*)::int AS n FROM rds_one.rds_keys WHERE writer = '${point}'`)) as {
        n: number;
      }[];
      assert.equal(row?.n, point === 'before' ? 0 : 1, point);
    }
  });

  test('a full disk passes: writes are unavailable, the store is back when one goes through, and rows of logs are written then', async () => {
    const full = `CREATE FUNCTION rds_one.full() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON rds_one.rds_keys EXECUTE FUNCTION rds_one.full()`;
    await query(place.url, full);
    for (let n = 0; n < 3; n++) {
      const error = await write().catch((reason) => reason);
      assert.ok(isUnavailable(error), String(error));
    }
    last++;
    const slot = last;
    const conditions: Condition[] = [{ kind: 'unchanged', versions: [{ slot, writer: '' }], writer: 'behind' }];
    store.writeBehind({ plan: () => ({ conditions, changes: [], mutations: [] }) });
    // Reads work, and the database responds.
    await store.whenCurrent();
    await engine.probe();
    let isBack = false;
    const back = store.whenBack().then(() => {
      isBack = true;
    });
    await delay(1500);
    assert.equal(isBack, false);
    await query(place.url, 'DROP FUNCTION rds_one.full CASCADE');
    const began = performance.now();
    await back;
    await request();
    assert.ok(performance.now() - began < RECOVERY_LIMIT_MS, `${performance.now() - began} ms`);
    await delay(800);
    const rows = await query(place.url, `SELECT 1 FROM rds_one.rds_keys WHERE slot = ${slot} AND writer = 'behind'`);
    assert.equal(rows.length, 1);
    const ofDisk = told.filter((line) => line.startsWith('the disk is full'));
    assert.equal(ofDisk[0], 'the disk is full one: met');
    assert.equal(ofDisk.at(-1), 'the disk is full one: over');
  });

  test('a store that takes no small write for I/O errors is not ready, and ready again when it does', async () => {
    const failing = `CREATE FUNCTION rds_one.failing() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'could not write block' USING ERRCODE = '58030'; END $$;
      CREATE TRIGGER failing_disk BEFORE INSERT ON rds_one.rds_keys EXECUTE FUNCTION rds_one.failing()`;
    await query(place.url, failing);
    const error = await write().catch((reason) => reason);
    assert.ok(isUnavailable(error), String(error));
    const isReady = () =>
      engine.probe().then(
        () => true,
        (reason) => !isUnavailable(reason) && assert.fail(reason),
      );
    const becomes = async (ready: boolean) => {
      for (const until = performance.now() + RECOVERY_LIMIT_MS; (await isReady()) !== ready; await delay(20))
        assert.ok(performance.now() < until, `ready: ${!ready}`);
    };
    await becomes(false);
    await query(place.url, 'DROP FUNCTION rds_one.failing CASCADE');
    await becomes(true);
    await store.whenBack();
    assert.ok(told.includes('an I/O error one: met'), told.join());
  });

  test('an outage is reported as a condition that begins and is over', async () => {
    await delay(600);
    assert.ok(told.includes('the database cannot be reached : met'), told.join());
    assert.equal(
      told.findLast((line) => line.startsWith('the database cannot be reached')),
      'the database cannot be reached : over',
    );
  });
});
