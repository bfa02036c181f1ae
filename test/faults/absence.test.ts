/** CONTRACT "Faults of the store": nothing is deleted or made anew because something is missing, on the embedded engine. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { runToEnd } from '../edge/process.ts';
import { engines } from '../support/data.ts';
import { type Service, startService } from '../support/service.ts';
import { command, printed, succeed } from '../systems/cli.ts';
import { addOthers, allMarks, bytesUnder, marksOf, type Name, names, untilMarks, type World, writeTo } from './absence-world.ts';

if (engines.includes('sqlite'))
  describe('What is missing, empty, swapped, old or unknown (embedded)', () => {
    const home = mkdtempSync(join(tmpdir(), 'rds-absence-'));
    /** The same installation at three times: at its first stop, at its second, and when it was killed after that. */
    const times = { first: join(home, 'first'), stopped: join(home, 'stopped'), killed: join(home, 'killed') };
    let world: World;
    let made = 0;

    before(async () => {
      const dataDir = join(home, 'base');
      cpSync(await prepared(), dataDir, { recursive: true });
      for (const [time, mark] of [
        ['first', 'a'],
        ['stopped', 'b'],
        ['killed', 'c'],
      ] as const) {
        const service = await startService({ dataDir });
        world ??= await addOthers(service);
        // The looks after a start close the systems again that they opened.
        if (time === 'killed') await wait(2_000);
        await writeTo(service, world, mark);
        if (time === 'killed') await service.kill();
        else assert.equal(await service.stop(), 0);
        cpSync(dataDir, times[time], { recursive: true });
      }
    });
    after(() => rmSync(home, { recursive: true, force: true }));

    async function prepared(): Promise<string> {
      const first = await startService({ dataDir: mkdtempSync(join(home, 'data-')) });
      assert.equal(await first.stop(), 0);
      return first.dataDir;
    }

    /** A copy of the installation as it was at a time. */
    function copyOf(time: keyof typeof times): string {
      const dataDir = join(home, `copy-${++made}`);
      cpSync(times[time], dataDir, { recursive: true });
      return dataDir;
    }

    const fileOf = (dataDir: string, name: Name, suffix = '') => join(dataDir, 'systems', name, `records.sqlite${suffix}`);
    const folderOf = (dataDir: string, name: Name) => join(dataDir, 'systems', name);
    const whole = { stopped: ['a', 'b'], killed: ['a', 'b', 'c'] };

    /** Starts a service on a copy that was changed and asks every system; what is refused has every byte that it had. */
    async function served(
      dataDir: string,
      expected: Record<Name, string[] | number>,
      work: (service: Service) => Promise<void> = async () => {},
    ): Promise<string> {
      const refused = names.filter((name) => expected[name] === 503);
      const bytes = refused.map((name) => bytesUnder(folderOf(dataDir, name)));
      const service = await startService({ dataDir });
      assert.deepEqual(await allMarks(service, world), expected, service.output());
      // The first look at all systems has been.
      assert.deepEqual(await allMarks(service, world), expected);
      for (const name of refused)
        assert.match(
          service.output(),
          new RegExp(`"store":"${fileOf(dataDir, name)}(-wal)?"`),
          `the log names the file of ${name}`,
        );
      assert.deepEqual(
        refused.map((name) => bytesUnder(folderOf(dataDir, name))),
        bytes,
      );
      await work(service);
      assert.equal(await service.stop(), 0);
      return service.output();
    }

    /** A start that cannot be says why in one line, and makes nothing. */
    async function refusedStart(dataDir: string, why: RegExp, env: Record<string, string> = {}): Promise<void> {
      const before = bytesUnder(dataDir);
      const settings = { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0', ...env };
      const { code, stdout, stderr } = await runToEnd(['start'], settings, dataDir);
      assert.equal(code, 1, stdout + stderr);
      const lines = stderr.trim().split('\n');
      assert.match(lines.at(-1) ?? '', why);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.deepEqual(bytesUnder(dataDir), before);
    }

    for (const time of ['stopped', 'killed'] as const) {
      test(`a file that is missing or empty after the service was ${time} is refused, and served when it is back`, async () => {
        const dataDir = copyOf(time);
        const aside = join(home, `aside-${made}`);
        renameSync(fileOf(dataDir, 'two'), aside);
        truncateSync(fileOf(dataDir, 'three'), 0);
        await served(dataDir, { testapp: whole[time], two: 503, three: 503 }, async (service) => {
          const listed = await succeed(service, 'system', 'list');
          assert.match(listed, /^two\t\S+\ttwo\t\S+records\.sqlite is missing$/m);
          assert.match(listed, /^three\t\S+\tthree\t\S+records\.sqlite is empty$/m);
          assert.match(listed, /^testapp\t\S+\t\S+$/m);
          assert.equal(existsSync(fileOf(dataDir, 'two')), false);
          renameSync(aside, fileOf(dataDir, 'two'));
          await untilMarks(service, world.two, whole[time]);
          cpSync(fileOf(times[time], 'three'), fileOf(dataDir, 'three'));
          await untilMarks(service, world.three, whole[time]);
        });
      });

      test(`files that were swapped after the service was ${time} are refused, and back in their places served`, async () => {
        const dataDir = copyOf(time);
        const aside = join(home, `aside-${made}`);
        const swap = () => {
          renameSync(fileOf(dataDir, 'two'), aside);
          renameSync(fileOf(dataDir, 'three'), fileOf(dataDir, 'two'));
          renameSync(aside, fileOf(dataDir, 'three'));
        };
        swap();
        await served(dataDir, { testapp: whole[time], two: 503, three: 503 });
        swap();
        await served(dataDir, { testapp: whole[time], two: whole[time], three: whole[time] });
      });

      test(`a file that is older than the registry says, and one that is none, are refused after the service was ${time}`, async () => {
        const dataDir = copyOf(time);
        cpSync(fileOf(times.first, 'two'), fileOf(dataDir, 'two'));
        writeFileSync(fileOf(dataDir, 'three'), 'x'.repeat(9_000));
        await served(dataDir, { testapp: whole[time], two: 503, three: 503 }, async (service) => {
          const { code, stdout } = await command(service, 'check');
          assert.deepEqual(
            [code, stdout.match(/^\S+\tstore\t\w+/gm)],
            [1, ['testapp\tstore\tok', 'two\tstore\tfailed', 'three\tstore\tfailed']],
          );
        });
        for (const name of ['two', 'three'] as const) cpSync(fileOf(times[time], name), fileOf(dataDir, name));
        await served(dataDir, { testapp: whole[time], two: whole[time], three: whole[time] });
      });
    }

    test("another system's log of changes is not applied; marks and locks that are missing, empty or swapped say nothing", async () => {
      const dataDir = copyOf('killed');
      cpSync(fileOf(dataDir, 'testapp', '-wal'), fileOf(dataDir, 'two', '-wal'));
      cpSync(fileOf(dataDir, 'testapp', '-mark'), fileOf(dataDir, 'three', '-mark'));
      rmSync(fileOf(dataDir, 'testapp', '-mark'));
      truncateSync(join(dataDir, 'service.lock'), 0);
      for (const name of names) rmSync(fileOf(dataDir, name, '-shm'), { force: true });
      await served(dataDir, { testapp: whole.killed, two: 503, three: whole.killed });
      cpSync(fileOf(times.killed, 'two', '-wal'), fileOf(dataDir, 'two', '-wal'));
      await served(dataDir, { testapp: whole.killed, two: whole.killed, three: whole.killed });
    });

    test('a log that was removed or cut after a kill is told of in the log and the list, and what is before it is served', async () => {
      const dataDir = copyOf('killed');
      rmSync(fileOf(dataDir, 'two', '-wal'));
      truncateSync(fileOf(dataDir, 'three', '-wal'), 5_000);
      const output = await served(dataDir, { testapp: whole.killed, two: ['a', 'b'], three: ['a', 'b'] }, async (service) => {
        for (const line of (await succeed(service, 'system', 'list')).trim().split('\n')) {
          const isTold = /\twrites since \d{4}-\d\d-\d\dT[\d:.]+Z may be missing$/.test(line);
          assert.equal(isTold, !line.startsWith('testapp'), line);
        }
      });
      for (const name of ['two', 'three']) assert.match(output, new RegExp(`"app":"${name}","since":"[^"]+".*may be missing`));
    });

    test('a registry that is missing, empty, cut to nothing or broken stops the start; nothing is made beside what it knew', async () => {
      const dataDir = copyOf('stopped');
      const registry = join(dataDir, 'registry.sqlite');
      const before = bytesUnder(dataDir);
      const env = { APP_ID: 'two', MASTER_KEY: world.two.masterKey, API_KEY: world.two.apiKey };
      rmSync(registry);
      await refusedStart(dataDir, /registry\.sqlite is missing, and there is \S+records\.sqlite.*system adopt APP/, env);
      for (const args of [['system', 'list'], ['system', 'add', '--app-id', 'four'], ['check']]) {
        const { code, stderr } = await runToEnd(args, { DATA_DIR: dataDir }, dataDir);
        assert.deepEqual([code, /registry\.sqlite is missing/.test(stderr)], [1, true], stderr);
      }
      assert.equal(existsSync(registry), false);
      writeFileSync(registry, '');
      await refusedStart(dataDir, /registry\.sqlite is empty/, env);
      writeFileSync(registry, 'y'.repeat(5_000));
      await refusedStart(dataDir, /registry\.sqlite is damaged/, env);
      cpSync(fileOf(dataDir, 'two'), registry);
      await refusedStart(dataDir, /registry\.sqlite is damaged/, env);
      cpSync(join(times.stopped, 'registry.sqlite'), registry);
      assert.deepEqual(bytesUnder(dataDir), before);
      await served(dataDir, { testapp: whole.stopped, two: whole.stopped, three: whole.stopped });
    });

    test('a store that the registry does not know is told of and taken in; one is forgotten and keeps its files', async () => {
      const dataDir = copyOf('stopped');
      const service = await startService({ dataDir });
      await succeed(service, 'system', 'forget', 'two');
      assert.equal(typeof (await marksOf(service, world.two)), 'number');
      assert.deepEqual(await marksOf(service, world.three), whole.stopped);
      assert.match((await command(service, 'system', 'add', '--app-id', 'two')).stderr, /two\S+ is there, .*system adopt two/);
      assert.match((await command(service, 'system', 'adopt', 'three')).stderr, /three is registered: system forget three/);
      await service.stop();
      const bytes = bytesUnder(folderOf(dataDir, 'two'));
      assert.ok(bytes.size > 0);
      const again = await startService({ dataDir });
      assert.match(again.output(), /two\/records\.sqlite is not registered.*system adopt two/);
      assert.deepEqual(await marksOf(again, world.three), whole.stopped);
      assert.deepEqual(bytesUnder(folderOf(dataDir, 'two')), bytes);
      const output = await succeed(again, 'system', 'adopt', 'two');
      const adopted = { appId: 'two', masterKey: printed(output, /master/i), apiKey: printed(output, /api/i) };
      assert.deepEqual(await marksOf(again, adopted), whole.stopped);
      assert.equal(typeof (await marksOf(again, world.two)), 'number');
      await again.stop();
    });

    test('where the registry is gone every store is taken in by hand; where it knows none the start ends', async () => {
      const dataDir = copyOf('stopped');
      for (const name of readdirSync(dataDir)) if (name.startsWith('registry.')) rmSync(join(dataDir, name));
      const run = (...args: string[]) => runToEnd(args, { DATA_DIR: dataDir }, dataDir);
      const { code, stdout, stderr } = await run('system', 'adopt', 'three');
      assert.equal(code, 0, stderr);
      const adopted = { appId: 'three', masterKey: printed(stdout, /master/i), apiKey: printed(stdout, /api/i) };
      const service = await startService({ dataDir });
      assert.deepEqual(await marksOf(service, adopted), whole.stopped);
      assert.equal(service.output().match(/is not registered/g)?.length, 2);
      await service.stop();
      const bytes = bytesUnder(join(dataDir, 'systems'));
      assert.equal((await run('system', 'forget', 'three')).code, 0);
      assert.deepEqual(bytesUnder(join(dataDir, 'systems')), bytes);
      await refusedStart(dataDir, /nothing was made, since the registry does not know/, { APP_ID: 'fresh' });
    });
  });
