/** PostgreSQL restarts, accepts no connection, accepts no writes, has no disk space. Reference: faults.md#passing-faults. */
import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { unprivilegedUser } from '../../src/storage/postgres/testing/programs.ts';
import { type TestDatabase, type TestServer, testServer } from '../../src/storage/postgres/testing/server.ts';
import { makeDirectory, removeDirectory } from '../support/data.ts';
import { engines } from '../support/service.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';
import { startWorld, type World } from './world.ts';

const CONNECTIONS = 40;
const terminate = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL($1)';

/** Creates a directory for the user of the server on a small disk. Returns `null` without a disk. */
async function directoryOn(disk: SmallDisk | null, name: string): Promise<string | null> {
  if (!disk) return null;
  const { uid, gid } = await unprivilegedUser();
  const path = join(disk.path, name);
  mkdirSync(path, { mode: 0o700 });
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  return path;
}

/** Opens connections until the server refuses one. @returns them */
async function takeConnections(url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch (error) {
      assert.equal((error as { code?: string }).code, '53300');
      return taken;
    }
    taken.push(client);
  }
}

if (engines.includes('postgres'))
  describe('PostgreSQL in trouble', { timeout: 180_000 }, () => {
    let server: TestServer;
    let database: TestDatabase;
    let dataDir: string;
    let world: World;
    before(async () => {
      const wal = await directoryOn(log, 'wal');
      const settings = { max_connections: CONNECTIONS, min_wal_size: '2MB', max_wal_size: '4MB', wal_level: 'minimal' };
      server = await testServer(settings, wal ?? undefined);
      database = await server.database();
      const space = await directoryOn(data, 'space');
      if (space !== null) {
        await server.query(`CREATE TABLESPACE small LOCATION '${space}'`);
        await server.query(`ALTER DATABASE "${new URL(database.url).pathname.slice(1)}" SET TABLESPACE small`);
      }
      dataDir = await makeDirectory('postgres', false);
      world = await startWorld({ engine: 'postgres', dataDir, database });
    });
    after(async () => {
      try {
        await world?.close();
      } finally {
        await server?.close();
        await removeDirectory(dataDir);
      }
    });
    // Declared after the hooks above, so that they are unmounted last.
    const [data, log] = [smallDisk('size=96m,mode=755'), smallDisk('size=40m,mode=755')];

    test('restarted with -m immediate, three times', async () => {
      await world.beside({
        name: 'restarted',
        expect: { writes: 'fail', condition: 'the database cannot be reached' },
        async fault() {
          for (let round = 0; round < 3; round++) {
            await server.quit();
            await server.start();
            await wait(300);
          }
        },
      });
    });

    test('no connection is free', async () => {
      await world.beside({
        name: 'no connection free',
        expect: { writes: 'fail', condition: 'the database has no room' },
        async fault() {
          const taken = await takeConnections(database.url);
          const [first] = taken;
          assert.ok(first, 'there was a connection');
          // Takes the connections of the service too, which reconnects quickly.
          for (let left = 1; left > 0; ) {
            left = (await first.query(terminate, [await pidsOf(taken)])).rows.length;
            taken.push(...(await takeConnections(database.url)));
          }
          await wait(1_200);
          await Promise.all(taken.map((client) => client.end().catch(() => {})));
        },
      });
    });

    test('it takes no writes: reads go on', async () => {
      await world.beside({
        name: 'read-only',
        expect: { writes: 'fail', reads: 'work', condition: /./ },
        async fault() {
          const set = async (value: string) => {
            await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
            await server.query('SELECT pg_reload_conf()');
          };
          await set('on');
          await wait(1_500);
          // The administrator's connections are read-only by now.
          const client = new pg.Client({ connectionString: database.url, options: '-c default_transaction_read_only=off' });
          await client.connect();
          await client.query('ALTER SYSTEM RESET default_transaction_read_only');
          await client.query('SELECT pg_reload_conf()');
          await client.end();
        },
      });
    });

    test('its disk is full: reads go on', async (t) => {
      if (!data) return t.skip('no file system can be mounted');
      await world.beside({
        name: 'disk full',
        expect: { writes: 'fail', reads: 'work', ready: 'ready', condition: 'the disk is full' },
        async fault() {
          data.fill();
          await wait(1_500);
          data.free();
        },
      });
    });

    test('the disk of its log of changes is full: it ends, and all goes on once it is started with room', async (t) => {
      if (!log) return t.skip('no file system can be mounted');
      await world.beside({
        name: 'log full',
        expect: { writes: 'fail', ready: 'unavailable' },
        async fault() {
          log.fill();
          const ended = server.ended();
          const client = new pg.Client({ connectionString: database.url });
          client.on('error', () => {});
          await client.connect();
          await assert.rejects(async () => {
            for (;;) await client.query("SELECT pg_logical_emit_message(true, '', repeat('x', 4000000))");
          });
          await wait(2_500);
          const hasEnded = await Promise.race([ended.then(() => true), wait(100, false)]);
          const panics = (await server.log()).split('\n').filter((line) => line.includes('PANIC'));
          assert.match(panics[0] ?? 'none', /No space left on device/);
          log.free();
          if (hasEnded) await server.start();
        },
      });
    });
  });

async function pidsOf(clients: readonly pg.Client[]): Promise<number[]> {
  const answers = await Promise.all(clients.map((client) => client.query('SELECT pg_backend_pid() AS pid')));
  return answers.map(({ rows }) => rows[0].pid);
}
