import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Store } from '../../port.ts';
import { addressesOf } from '../../sql/testing/addresses.ts';
import { openAnyway } from '../../testing/open.ts';
import { Pooler } from '../connection/testing/pooler.ts';
import { PostgresEngine } from '../engine.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';

let database: TestDatabase;
let sql: pg.Client;

before(async () => {
  database = await testDatabase();
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
});
after(async () => {
  await sql.end();
  await database.drop();
});

async function withProcess(url: string, work: (store: Store, engine: PostgresEngine) => Promise<void>): Promise<void> {
  const engine = await PostgresEngine.connect(url, { timeLimit: 10_000, connections: 6, report: () => {}, addressesOf });
  const store = await openAnyway(engine, 'app');
  try {
    await work(store, engine);
  } finally {
    await store.close();
    await engine.close();
  }
}

/** Waits until a store sees exactly these processes and its own. */
async function untilPeers(store: Store, ids: readonly string[], limit = 5_000): Promise<void> {
  const wanted = [store.cluster.processId, ...ids].toSorted().join();
  for (const began = performance.now(); ; await delay(20)) {
    const peers = [...(await store.cluster.processes())].toSorted().join();
    if (peers === wanted) return;
    assert.ok(performance.now() - began < limit, `${peers} instead of ${wanted}`);
  }
}

/** Limited to this database, because other tests hold locks in other databases of the server. */
const ownLocks = `FROM pg_locks WHERE locktype = 'advisory'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const locks = async () => (await sql.query(`SELECT count(*)::int AS n ${ownLocks}`)).rows[0].n;
async function untilLocks(wanted: number): Promise<void> {
  for (const began = performance.now(); (await locks()) !== wanted; await delay(20))
    assert.ok(performance.now() - began < 5_000, `${await locks()} locks`);
}
const cutListeners = () => sql.query(`SELECT pg_terminate_backend(pid) ${ownLocks} AND pid <> pg_backend_pid()`);

test('processes see each other; one that ends, or is killed, is seen no more', async () => {
  await withProcess(database.url, async (store) => {
    await untilPeers(store, []);
    await withProcess(database.url, async (other) => {
      assert.notEqual(other.cluster.processId, store.cluster.processId);
      await untilPeers(store, [other.cluster.processId]);
      await untilPeers(other, [store.cluster.processId]);
    });
    await untilPeers(store, []);
    const file = fileURLToPath(new URL('../testing/liveness-process.ts', import.meta.url));
    const child = spawn(process.execPath, [file, database.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(child.stdout, 'data');
      await untilPeers(store, [String(line).trim()]);
    } finally {
      child.kill('SIGKILL');
    }
    const killed = performance.now();
    await untilPeers(store, []);
    assert.ok(performance.now() - killed < 3_000);
  });
  await untilLocks(0);
});

test('a process whose connection is cut comes back under its name', async () => {
  await withProcess(database.url, async (store) => {
    await withProcess(database.url, async (other) => {
      await untilPeers(store, [other.cluster.processId]);
      for (let round = 0; round < 3; round++) {
        await cutListeners();
        // A process always counts itself.
        assert.ok((await store.cluster.processes()).has(store.cluster.processId));
        await untilPeers(store, [other.cluster.processId]);
        await untilPeers(other, [store.cluster.processId]);
      }
    });
  });
  await untilLocks(0);
});

test('a session that the server still holds does not keep a new one out', async () => {
  await withProcess(database.url, async (store) => {
    await withProcess(database.url, async (other) => {
      await untilPeers(store, [other.cluster.processId]);
      const [lock] = (await sql.query(`SELECT classid, objid, pid FROM pg_locks WHERE objid = $1`, [other.cluster.processId]))
        .rows;
      // Stands for a connection whose end the server has not noticed yet.
      await sql.query('SELECT pg_advisory_lock_shared($1::int, $2::int)', [lock.classid, lock.objid]);
      await sql.query('SELECT pg_terminate_backend($1)', [lock.pid]);
      await untilLocks(3);
      await sql.query('SELECT pg_advisory_unlock_all()');
      await untilPeers(store, [other.cluster.processId]);
      await untilLocks(2);
    });
  });
  await untilLocks(0);
});

test('behind a pooler a process is seen too, by a transaction that is open and in nobody’s way', async () => {
  const pooler = await Pooler.before(database.url);
  try {
    await withProcess(pooler.url, async (store) => {
      await withProcess(database.url, async (other) => {
        await untilPeers(other, [store.cluster.processId]);
        await untilPeers(store, [other.cluster.processId]);
        const { rows } = await sql.query(
          `SELECT count(*)::int AS n FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid()
            AND datname = current_database() AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)`,
        );
        assert.equal(rows[0].n, 0);
        assert.doesNotMatch(pooler.sent, /pg_advisory_lock_shared|LISTEN/);
        pooler.cut();
        await untilPeers(other, []);
        await untilPeers(other, [store.cluster.processId]);
      });
    });
  } finally {
    pooler.close();
  }
  await untilLocks(0);
});
