import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import * as records from '../../records/index.ts';
import { pointer, type StoreProcess, twoProcesses } from './testing/store-process.ts';

type Process = StoreProcess<Awaited<ReturnType<typeof records.createRecord>>>;

describe('PostgreSQL store beside locks of others', () => {
  let a: Process;
  let sql: pg.Client;
  let url: string;
  let close: (() => Promise<void>) | undefined;

  before(async () => {
    const all = await twoProcesses(records);
    ({ a, sql, close } = all);
    url = all.place.url;
    for (const table of ['X', 'Y', 'Z']) await a.create(table, { objectId: `${table}1`, n: 0, list: [] });
    await a.create('Y', { objectId: 'pointing', to: pointer('Z', 'Z1') });
  });
  after(() => close?.());

  /** Takes a lock in another session. @returns a function that releases it */
  const hold = async (lock: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(lock);
    return async () => {
      await client.query('COMMIT');
      await client.end();
    };
  };
  const timed = async (work: Promise<unknown>) => {
    const began = performance.now();
    const error = await work.then(
      () => undefined,
      (reason) => reason,
    );
    return { ms: performance.now() - began, error };
  };

  for (const [what, lock] of [
    ['a table', 'LOCK TABLE rds_test."t_X" IN ACCESS EXCLUSIVE MODE'],
    ['a record', `SELECT 1 FROM rds_test."t_X" WHERE "objectId" = 'X1' FOR UPDATE`],
  ] as const)
    test(`${what} that somebody holds keeps those alone waiting who write to it`, async () => {
      const release = await hold(lock);
      let isHeld = true;
      const others: { ms: number; error: unknown }[] = [];
      const writers = Array.from({ length: 8 }, async (_, at) => {
        const table = ['Y', 'Z'][at % 2] as string;
        for (let n = 0; isHeld; n++) {
          const work = n % 2 > 0 ? a.create(table, { n }) : a.update(table, `${table}1`, { n: { __op: 'Increment', amount: 1 } });
          others.push(await timed(work));
          await delay(5);
        }
      });
      await delay(100);
      let done = 0;
      const held = [
        a.update('X', 'X1', { n: 1 }),
        a.update('X', 'X1', { list: { __op: 'Add', objects: [1] } }),
        ...(what === 'a table' ? [a.create('X', { n: 1 }), a.create('X', { [`new${what.length}`]: 1 })] : []),
      ];
      for (const one of held) void one.then(() => done++);
      // In the same turn of the event loop: writes to other tables continue.
      const beside = timed(Promise.all([a.create('Z', { n: 2 }), a.create('Y', { n: 2 })]));
      const growth = timed(delay(400).then(() => a.create('Y', { [`grown${what.length}`]: 1 })));
      await delay(3000);
      assert.equal(done, 0);
      assert.ok((await beside).ms < 1500);
      const grown = await growth;
      assert.ok(grown.ms < 2400 && grown.error === undefined, `${grown.ms} ms ${grown.error}`);
      await release();
      const after = await timed(Promise.all(held));
      assert.ok(after.ms < 1500 && after.error === undefined, `${after.ms} ms ${after.error}`);
      isHeld = false;
      await Promise.all(writers);
      const slowest = Math.max(...others.map(({ ms }) => ms));
      assert.ok(slowest < 1500 && others.length > 100, `${slowest} ms, ${others.length} writes`);
      assert.deepEqual(
        others.filter(({ error }) => error !== undefined),
        [],
      );
    });

  test('a delete waits for the tables that may point at its record, and for none besides', async () => {
    const free = await a.create('Free', { n: 1 });
    await a.create('Z', { objectId: 'Z2' });
    const release = await hold('LOCK TABLE rds_test."t_Y" IN ACCESS EXCLUSIVE MODE');
    const gone = await timed(a.remove('Free', JSON.parse(JSON.stringify(free)).objectId));
    assert.ok(gone.ms < 1500);
    let isGone = false;
    const remove = a.remove('Z', 'Z2').then(() => {
      isGone = true;
    });
    const refused = assert.rejects(a.remove('Z', 'Z1'), { code: 119 });
    await delay(1000);
    assert.equal(isGone, false);
    await release();
    await Promise.all([remove, refused]);
  });

  test('a write that waits for too long was not done, and the answer says so', async () => {
    const release = await hold('LOCK TABLE rds_test."t_X" IN ACCESS EXCLUSIVE MODE');
    const late = await timed(a.create('X', { objectId: 'late' }));
    await release();
    assert.equal((late.error as { key?: string }).key, 'unavailable');
    // The time limit of the store's statements.
    assert.ok(late.ms > 9_000 && late.ms < 13_000, `${late.ms} ms`);
    assert.deepEqual((await sql.query(`SELECT 1 FROM rds_test."t_X" WHERE "objectId" = 'late'`)).rows, []);
  });
});
