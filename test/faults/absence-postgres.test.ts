/** CONTRACT "Faults of the store": nothing is deleted or made anew because something is missing, on PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { query } from '../../src/storage/postgres/testing/server.ts';
import { runToEnd } from '../edge/process.ts';
import { engines, makeData, type OwnData } from '../support/data.ts';
import { type Service, startService } from '../support/service.ts';
import { command, printed, succeed } from '../systems/cli.ts';
import { addOthers, allMarks, marksOf, untilMarks, type World, writeTo } from './absence-world.ts';

if (engines.includes('postgres'))
  describe('What is missing, empty, swapped, old or unknown (PostgreSQL)', () => {
    let data: OwnData;
    let world: World;
    const whole = ['a'];
    const ask = (sql: string) => query(data.settings.DATABASE_URL as string, sql);
    const start = () => startService({ engine: 'postgres', ...data });
    const rename = (from: string, to: string) => ask(`ALTER SCHEMA "${from}" RENAME TO "${to}"`);

    before(async () => {
      data = await makeData('postgres');
      const service = await start();
      world = await addOthers(service);
      await writeTo(service, world, 'a');
      assert.equal(await service.stop(), 0);
    });
    after(() => data.remove());

    /** Names and rows of all schemas of ours, but for what a start may write in those of healthy systems. */
    const shape = () =>
      ask(`SELECT table_schema, count(*)::int AS tables FROM information_schema.tables
        WHERE table_schema LIKE 'rds%' GROUP BY 1 ORDER BY 1`);

    async function served(
      expected: Record<string, string[] | number>,
      work: (service: Service) => Promise<void> = async () => {},
    ) {
      const before = await shape();
      const service = await start();
      assert.deepEqual(await allMarks(service, world), expected, service.output());
      for (const [name, marks] of Object.entries(expected))
        if (marks === 503) assert.match(service.output(), new RegExp(`"store":"the schema rds_${name}"`));
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

    test('a schema that is missing or empty is refused, and served when it is back', async () => {
      await rename('rds_two', 'aside_two');
      await rename('rds_three', 'aside_three');
      await ask('CREATE SCHEMA rds_three');
      await served({ testapp: whole, two: 503, three: 503 }, async (service) => {
        const listed = await succeed(service, 'system', 'list');
        assert.match(listed, /^two\t.*the schema rds_two is missing$/m);
        assert.match(listed, /^three\t.*the schema rds_three is empty$/m);
        assert.equal((await command(service, 'check')).code, 1);
        await rename('aside_two', 'rds_two');
        await untilMarks(service, world.two, whole);
        await ask('DROP SCHEMA rds_three');
        await rename('aside_three', 'rds_three');
        await untilMarks(service, world.three, whole);
      });
    });

    test('schemas that were swapped, and one that is older than the registry says, are refused', async () => {
      const swap = async () => {
        await rename('rds_two', 'aside');
        await rename('rds_three', 'rds_two');
        await rename('aside', 'rds_three');
      };
      await swap();
      await ask('UPDATE rds_testapp.rds_store SET generation = 0');
      await served({ testapp: 503, two: 503, three: 503 }, async (service) => {
        const listed = await succeed(service, 'system', 'list');
        assert.match(listed, /^testapp\t.*the schema rds_testapp is older than the registry says$/m);
        for (const name of ['two', 'three'])
          assert.match(listed, new RegExp(`^${name}\t.*the schema rds_${name} is another system's$`, 'm'));
      });
      await swap();
      await ask('UPDATE rds_testapp.rds_store SET generation = 1000');
      await served({ testapp: whole, two: whole, three: whole });
    });

    test('a registry that is missing or empty stops the start, and nothing is made beside what it knew', async () => {
      await rename('rds', 'aside');
      await refusedStart(/DATABASE_URL: the schema rds is missing, and there is the schema rds_/);
      await ask('CREATE SCHEMA rds');
      await refusedStart(/DATABASE_URL: the schema rds is empty, and there is the schema rds_/);
      await ask('DROP SCHEMA rds');
      await rename('aside', 'rds');
      await served({ testapp: whole, two: whole, three: whole });
    });

    test('a schema that the registry does not know is told of and taken in; where it knows none the start ends', async () => {
      const service = await start();
      await succeed(service, 'system', 'forget', 'two');
      assert.match((await command(service, 'system', 'add', '--app-id', 'two')).stderr, /rds_two is there, .*system adopt two/);
      await service.stop();
      const again = await start();
      assert.match(again.output(), /the schema rds_two is not registered.*system adopt two/);
      const output = await succeed(again, 'system', 'adopt', 'two');
      const adopted = { appId: 'two', masterKey: printed(output, /master/i), apiKey: printed(output, /api/i) };
      await untilMarks(again, adopted, whole);
      assert.equal(typeof (await marksOf(again, world.two)), 'number');
      for (const name of ['testapp', 'two', 'three']) await succeed(again, 'system', 'forget', name);
      await again.stop();
      await refusedStart(/nothing was made, since the registry does not know the schema rds_/);
    });
  });
