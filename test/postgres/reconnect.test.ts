/**
 * PostgreSQL goes away and comes back: the service reports it, stays, recovers, and loses no acknowledged write.
 * Reference: faults.md#passing-faults.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type TestDatabase, type TestServer, testServer } from '../../src/storage/postgres/testing/server.ts';
import { runToEnd, temporary } from '../edge/process.ts';
import { path, unique } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { isAlive, login, me, password, signUp, type User } from '../support/users.ts';
import { assertAway, inTime, Load } from './load.ts';

/** Requests succeed again within this time after the database is back. */
const MAX_RECOVERY_MS = 5_000;
/** Two seconds (operations.md#health-checks), and two more for a busy machine. */
const MAX_HEALTH_DELAY_MS = 4_000;

if (engines.includes('postgres'))
  describe('PostgreSQL goes away', { timeout: 120_000 }, () => {
    let server: TestServer;
    let database: TestDatabase;
    let services: ServiceProcess[];
    let user: User;
    before(async () => {
      server = await testServer();
      database = await server.database();
      const first = await startServiceProcess({ engine: 'postgres', database });
      services = [first, await startServiceProcess({ engine: 'postgres', database })];
      user = await signUp(first);
    });
    after(async () => {
      for (const service of services ?? []) await service.stop();
      await server?.close();
    });
    const [a, b] = [() => services[0] as ServiceProcess, () => services[1] as ServiceProcess];

    const assertRunning = () => {
      for (const { process, output } of services) {
        assert.equal(process.exitCode ?? process.signalCode, null, output());
      }
    };
    /** Waits until all services serve again. */
    const recovered = async () => {
      const since = performance.now();
      for (const service of services)
        while ((await inTime(service.call('GET', path('_User')))).status !== 200) {
          assert.ok(performance.now() - since < MAX_RECOVERY_MS, 'the service did not recover');
          await wait(20);
        }
    };
    /** Asserts that changes by one process are known to the other within a second. */
    const assertInvalidated = async () => {
      const table = unique('T');
      await b().call('GET', `/platform/schemas/${table}`);
      assert.equal((await a().call('POST', path(table), { body: { n: 1 } })).status, 201);
      await soon(async () => assert.equal((await b().call('GET', `/platform/schemas/${table}`)).status, 200));
      const { body } = await login(a(), { username: user.username, password });
      await soon(async () => assert.equal(await isAlive(b(), body.sessionToken), true));
      assert.equal((await a().call('POST', '/platform/logout', { session: body.sessionToken })).status, 200);
      await soon(async () => assert.equal(await isAlive(b(), body.sessionToken), false));
    };

    for (const [how, away] of [
      ['restarted', () => server.stop()],
      ['killed and started again', () => server.kill()],
    ] as const)
      test(`${how} under load: 503 while it is away, then all goes on; what was acknowledged is there, once`, async (t) => {
        const load = new Load(services);
        await load.start();
        await wait(400);
        // Takes long on a busy machine.
        await soon(async () => assert.ok(load.acknowledged > 50), 10_000);
        await away();
        try {
          for (let round = 0; round < 5; round++) {
            for (const service of services) await assertAway(service, load.table, user);
            await wait(50);
          }
        } finally {
          await server.start();
        }
        await recovered();
        await wait(700);
        await load.stop();
        await load.verify();
        t.diagnostic(`${load.acknowledged} acknowledged writes, ${load.unavailable} requests met no database`);
        assert.ok(load.acknowledged > 50 && load.unavailable > 10, 'the test tested nothing');
        assertRunning();
        await assertInvalidated();
      });

    test('/health/ready reports it and its end, /health/live does not', async () => {
      const ask = async (path: string) => {
        const answer = await fetch(a().url + path);
        return [answer.status, await answer.json()];
      };
      const unavailable = { status: 'unavailable', checks: { store: 'unreachable' } };
      assert.deepEqual(await ask('/health/ready'), [200, { status: 'ready' }]);
      await server.stop();
      try {
        await soon(async () => assert.deepEqual(await ask('/health/ready'), [503, unavailable]), MAX_HEALTH_DELAY_MS);
        assert.deepEqual(await ask('/health'), [503, unavailable]);
        assert.deepEqual(await ask('/health/live'), [200, { status: 'live' }]);
      } finally {
        await server.start();
      }
      await soon(async () => assert.deepEqual(await ask('/health/ready'), [200, { status: 'ready' }]), MAX_HEALTH_DELAY_MS);
      assertRunning();
    });

    test('restarted at once under load, several times: each time all goes on', async () => {
      const load = new Load(services);
      await load.start();
      for (let round = 0; round < 3; round++) {
        await wait(300);
        await (round % 2 ? server.kill() : server.stop());
        await server.start();
        await recovered();
      }
      await load.stop();
      await load.verify();
      assertRunning();
      await assertInvalidated();
    });

    test('idle connections that are cut: the next requests succeed', async () => {
      const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      for (let round = 0; round < 3; round++) {
        const rows = await server.query(cut, database);
        assert.ok(rows.length > 0, 'there were connections');
        await wait(100);
        for (const { call } of services) {
          const table = unique('T');
          const answers = await Promise.all([
            call('GET', path('_User'), { query: { order: '-createdAt', where: { username: { $regex: 'u' } } } }),
            call('GET', path('_User', user.id)),
            call('POST', path(table), { body: { n: 1 } }),
            me({ call }, user.token),
            call('GET', '/platform/classes-aggregate/_User', { query: { pipeline: [{ $count: 'n' }] } }),
          ]);
          assert.deepEqual(
            answers.map(({ status }) => status),
            [200, 200, 201, 200, 200],
            answers.map(({ text }) => text).join('\n'),
          );
        }
      }
      await assertInvalidated();
    });

    test('connections that are cut under load: 503 at the worst, and nothing twice', async () => {
      const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      const load = new Load(services);
      await load.start();
      for (let round = 0; round < 6; round++) {
        await wait(100);
        await server.query(cut, database);
      }
      await wait(200);
      await load.stop();
      await load.verify();
      assertRunning();
      await assertInvalidated();
    });

    test('away at the start: the service ends with one line that holds no secret', async () => {
      await server.stop();
      try {
        const cwd = await temporary();
        const url = new URL(database.url);
        url.password = 's3cret-password';
        const env = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: cwd, DATABASE_URL: url.href };
        for (const args of [['start'], ['system', 'list']]) {
          const { code, stdout, stderr } = await runToEnd(args, env, cwd);
          assert.ok(code !== null && code !== 0, `exit code ${code}`);
          assert.equal((stdout + stderr).trim().split('\n').length, 1, stdout + stderr);
          assert.ok(!(stdout + stderr).includes('s3cret'), stdout + stderr);
        }
      } finally {
        await server.start();
      }
      await recovered();
    });
  });
