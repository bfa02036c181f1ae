/**
 * Schemas that are missing, empty, swapped, old or unknown, on PostgreSQL: nothing is deleted or recreated because something is missing.
 * Reference: faults.md#missing-and-foreign-stores.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { query } from '../../src/storage/postgres/testing/server.ts';
import { runToEnd } from '../edge/process.ts';
import { engines, makeData, type OwnData } from '../support/data.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { command, printed, succeed } from '../systems/cli.ts';
import { addOthers, allMarks, assertUnavailable, type Marks, marksOf, untilMarks, type World, writeTo } from './absence-world.ts';

const others = ['two', 'three', 'four', 'five'];

if (engines.includes('postgres'))
  describe('What is missing, empty, swapped, old or unknown (PostgreSQL)', () => {
    let data: OwnData;
    let world: World;
    const whole = ['a'];
    const allWhole = Object.fromEntries(['testapp', ...others].map((name) => [name, whole]));
    const ask = (sql: string) => query(data.settings.DATABASE_URL as string, sql);
    const start = () => startServiceProcess({ engine: 'postgres', ...data });
    const rename = (from: string, to: string) => ask(`ALTER SCHEMA "${from}" RENAME TO "${to}"`);

    before(async () => {
      data = await makeData('postgres');
      const service = await start();
      world = await addOthers(service, others);
      await writeTo(service, world, 'a');
      assert.equal(await service.stop(), 0);
    });
    after(() => data.remove());

    /** Names of all our schemas with their number of tables. A start may write rows to those of healthy systems. */
    const shape = () =>
      ask(`SELECT table_schema, count(*)::int AS tables FROM information_schema.tables
        WHERE table_schema LIKE 'rds%' GROUP BY 1 ORDER BY 1`);

    async function served(expected: Marks, work: (service: ServiceProcess) => Promise<void> = async () => {}) {
      const before = await shape();
      const service = await start();
      assert.deepEqual(await allMarks(service, world), expected, service.output());
      for (const [name, marks] of Object.entries(expected)) {
        if (marks !== 503) continue;
        await assertUnavailable(service, world[name]);
        assert.match(service.output(), new RegExp(`"store":"the schema rds_${name}"`));
      }
      assert.deepEqual(await shape(), before);
      await work(service);
      assert.equal(await service.stop(), 0);
    }

    async function refusedStart(why: RegExp): Promise<void> {
      const before = await shape();
      const env = { ...data.settings, HOST: '127.0.0.1', PORT: '0', APP_ID: 'two' };
      const { code, stdout, stderr } = await runToEnd(['start'], env, data.dataDir);
      assert.deepEqual([code, why.test(stderr)], [1, true], stdout + stderr);
      assert.deepEqual(await shape(), before);
    }

    test('schemas that are missing, empty, swapped, or older than the registry says are refused, and served when they are back', async () => {
      const swap = async () => {
        await rename('rds_four', 'aside');
        await rename('rds_five', 'rds_four');
        await rename('aside', 'rds_five');
      };
      await rename('rds_two', 'aside_two');
      await rename('rds_three', 'aside_three');
      await ask('CREATE SCHEMA rds_three');
      await swap();
      await ask('UPDATE rds_testapp.rds_store SET generation = 0');
      await served({ testapp: 503, two: 503, three: 503, four: 503, five: 503 }, async (service) => {
        const listed = await succeed(service, 'system', 'list');
        assert.match(listed, /^testapp\t.*the schema rds_testapp is older than the registry says$/m);
        assert.match(listed, /^two\t.*the schema rds_two is missing$/m);
        assert.match(listed, /^three\t.*the schema rds_three is empty$/m);
        for (const name of ['four', 'five'])
          assert.match(listed, new RegExp(`^${name}\t.*the schema rds_${name} is another system's$`, 'm'));
        assert.equal((await command(service, 'check')).code, 1);
        await rename('aside_two', 'rds_two');
        await untilMarks(service, world.two, whole);
        await ask('DROP SCHEMA rds_three');
        await rename('aside_three', 'rds_three');
        await untilMarks(service, world.three, whole);
      });
      await swap();
      await ask('UPDATE rds_testapp.rds_store SET generation = 1000');
      await served(allWhole);
    });

    test('the registry', async (t) => {
      await t.test('one that is missing or empty stops the start, and nothing is made beside what it knew', async () => {
        await rename('rds', 'aside');
        await refusedStart(/DATABASE_URL: the schema rds is missing, and there is the schema rds_/);
        await ask('CREATE SCHEMA rds');
        await refusedStart(/DATABASE_URL: the schema rds is empty, and there is the schema rds_/);
        await ask('DROP SCHEMA rds');
        await rename('aside', 'rds');
      });

      await t.test('a schema that it does not know is reported and adopted; if it knows none the start fails', async () => {
        await served(allWhole, async (service) => {
          await succeed(service, 'system', 'forget', 'two');
          const { stderr } = await command(service, 'system', 'add', '--app-id', 'two');
          assert.match(stderr, /rds_two is there, .*system adopt two/);
        });
        const again = await start();
        assert.match(again.output(), /the schema rds_two is not registered.*system adopt two/);
        const output = await succeed(again, 'system', 'adopt', 'two');
        const adopted = { appId: 'two', masterKey: printed(output, /master/i), apiKey: printed(output, /api/i) };
        await untilMarks(again, adopted, whole);
        assert.equal(typeof (await marksOf(again, world.two)), 'number');
        for (const name of ['testapp', ...others]) await succeed(again, 'system', 'forget', name);
        await again.stop();
        await refusedStart(/nothing was made, since the registry does not know the schema rds_/);
      });
    });
  });
