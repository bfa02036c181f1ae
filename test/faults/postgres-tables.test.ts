/** Locks of administrators, and tables and schemas that go away: their requests wait or are refused, all others go on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { path, unique } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { addSystem, callSystem } from '../systems/cli.ts';
import { UNAVAILABLE } from './answers.ts';
import { useLine } from './line.ts';

if (engines.includes('postgres'))
  describe('an administrator of PostgreSQL at work', { timeout: 120_000 }, () => {
    const line = useLine();
    const call = (...args: Parameters<typeof line.world.service.call>) => line.world.service.call(...args);

    /** Opens a transaction. @returns rolls it back */
    async function held(sql: string): Promise<() => Promise<void>> {
      const client = new pg.Client({ connectionString: line.adminUrl });
      await client.connect();
      await client.query(`BEGIN; ${sql}`);
      return async () => {
        await client.query('ROLLBACK');
        await client.end();
      };
    }

    /** Returns the SQL name of the table of a class. */
    async function tableOf(className: string): Promise<string> {
      const rows = await line.sql(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'rds_testapp' AND tablename LIKE 't\\_%${className}'`,
      );
      assert.equal(rows.length, 1, `one table of ${className}`);
      return rows[0].name;
    }

    test('ALTER TABLE and LOCK TABLE held open, each on one table: its writes wait, all others go on', async () => {
      const locks = [
        (table: string) => `ALTER TABLE ${table} ADD COLUMN "of the administrator" int`,
        (table: string) => `LOCK TABLE ${table} IN SHARE MODE`,
      ];
      const tables = await Promise.all(
        locks.map(async (sql) => {
          const className = unique('Held');
          const made = await call('POST', path(className), { body: { Name: 'first' } });
          assert.equal(made.status, 201, made.text);
          return { className, objectId: made.body.objectId as string, sql: sql(await tableOf(className)) };
        }),
      );
      const waiting: Promise<Answer>[] = [];
      let answered = 0;
      const send = (method: string, at: string, Name: string) =>
        waiting.push(call(method, at, { body: { Name } }).finally(() => answered++));
      await line.world.beside({
        name: 'ALTER TABLE and LOCK TABLE',
        expect: { writes: 'work', reads: 'work', ready: 'ready', condition: null },
        async fault() {
          const ends = await Promise.all(tables.map(({ sql }) => held(sql)));
          for (let n = 0; n < 5; n++)
            for (const { className, objectId } of tables) {
              send('POST', path(className), `n${n}`);
              send('PUT', path(className, objectId), `to ${n}`);
            }
          await wait(2_500);
          assert.equal(answered, 0, 'writes wait');
          for (const end of ends) await end();
        },
      });
      for (const { status, text } of await Promise.all(waiting)) assert.ok(status < 300, `${status} ${text}`);
      for (const { className } of tables) {
        const { body } = await call('GET', path(className), { query: { limit: 100 } });
        assert.equal(body.results.length, 6);
      }
    });

    test('a table renamed away and back: 503 for it alone meanwhile, be it read or written, then it is served again', async () => {
      const className = unique('Lost');
      const made = await call('POST', path(className), { body: { Name: 'first', n: 1 } });
      assert.equal(made.status, 201, made.text);
      const table = await tableOf(className);
      const at = path(className, made.body.objectId);
      const doors = [
        () => call('GET', path(className), { query: { where: { n: 1 }, count: 1 } }),
        () => call('GET', at),
        () => call('GET', path(className), { query: { limit: 100_000 } }),
        () => call('GET', `/platform/classes-aggregate/${className}`, { query: { pipeline: [{ $group: { _id: '$n' } }] } }),
        () => call('POST', path(className), { body: { n: 2 } }),
        () => call('PUT', at, { body: { n: { __op: 'Increment', amount: 1 } } }),
        () => call('POST', path(className), { body: { [unique('field')]: 2 } }),
        () => call('DELETE', at),
      ];
      await line.world.beside({
        name: 'a table renamed',
        expect: { writes: 'work', reads: 'work', ready: 'ready', condition: 'the store is missing' },
        async fault() {
          await line.sql(`ALTER TABLE ${table} RENAME TO elsewhere`);
          for (let n = 0; n < 3; n++) {
            for (const { status, text } of await Promise.all(doors.map((ask) => ask())))
              assert.deepEqual([status, text], [503, UNAVAILABLE]);
            await wait(100);
          }
          await line.sql(`ALTER TABLE ${table.replace(/\..*/s, '.elsewhere')} RENAME TO ${table.replace(/^[^.]*\./, '')}`);
        },
      });
      for (const ask of doors) {
        const { status, text } = await ask();
        assert.ok(status < 300, `${status} ${text}`);
      }
    });

    test("a system's schema renamed away and back: 503 for it alone meanwhile, nothing is recreated, then it is served again", async () => {
      const { service } = line.world;
      const system = await addSystem(service, '--name', 'Second', '--app-id', 'second');
      const other = (method: string, at: string, body?: object) =>
        callSystem(service, system, method, at, { ...(body && { body }) });
      await soon(async () => assert.equal((await other('GET', path('Things'))).status, 200), 4_000);
      assert.equal((await other('POST', path('Things'), { n: 1 })).status, 201);
      const kept = await other('POST', path('Things'), { n: 2 });
      await line.world.beside({
        name: 'renamed',
        expect: { writes: 'work', reads: 'work', ready: 'ready', condition: 'the store is missing' },
        async fault() {
          await line.sql('ALTER SCHEMA rds_second RENAME TO elsewhere');
          for (let n = 0; n < 5; n++) {
            const answers = await Promise.all([
              other('GET', path('Things')),
              other('GET', path('Things', kept.body.objectId)),
              other('POST', path('Things'), { n: 3 }),
              other('POST', path(unique('New')), { n: 3 }),
            ]);
            for (const { status, text } of answers) assert.deepEqual([status, text], [503, UNAVAILABLE]);
            await wait(100);
          }
          const made = await line.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'rds_second'");
          assert.deepEqual(made, [], 'nothing is recreated');
          await line.sql('ALTER SCHEMA elsewhere RENAME TO rds_second');
        },
      });
      await soon(async () => {
        const { status, body, text } = await other('GET', path('Things'));
        assert.equal(status, 200, text);
        assert.equal(body.results.length, 2);
      }, 4_000);
      const again = await other('POST', path('Things'), { n: 4 });
      assert.equal(again.status, 201, again.text);
    });
  });
