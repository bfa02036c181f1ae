/**
 * Stores that are missing, empty, swapped, old, damaged or unknown, on SQLite: the systems they belong to are refused, the others are served,
 * and nothing is deleted or recreated because something is missing. Reference: faults.md#missing-and-foreign-stores.
 */
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { runToEnd } from '../edge/process.ts';
import { engines, makeDirectory } from '../support/data.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { path } from '../support/records.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { callSystem, command, printed, succeed } from '../systems/cli.ts';
import {
  addOthers,
  allMarks,
  assertUnavailable,
  bytesUnder,
  type Marks,
  marksOf,
  untilMarks,
  type World,
  writeTo,
} from './absence-world.ts';

const others = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const names = ['testapp', ...others];

/** The marks of an installation that lost nothing, by the way its service ended. */
const whole = { stopped: ['a', 'b'], killed: ['a', 'b', 'c'] };

/** Inverts bits of a range of bytes of a file. */
function flip(file: string, from: number, count: number): void {
  const bytes = readFileSync(file);
  for (let at = from; at < Math.min(from + count, bytes.length); at++) bytes[at] = (bytes[at] ?? 0) ^ 0x5a;
  writeFileSync(file, bytes);
}

const sizeOf = (file: string): number => statSync(file).size;
const folderOf = (dataDir: string, name: string) => join(dataDir, 'systems', name);
const fileOf = (dataDir: string, name: string, suffix = '') => join(folderOf(dataDir, name), `records.sqlite${suffix}`);

/** The same marks for every system, with exceptions. */
const marks = (all: readonly string[], exceptions: Marks = {}): Marks => ({
  ...Object.fromEntries(names.map((name) => [name, all])),
  ...exceptions,
});

if (engines.includes('sqlite'))
  describe('What is missing, empty, swapped, old, damaged or unknown (embedded)', () => {
    const home = mkdtempSync(join(tmpdir(), 'rds-absence-'));
    /** The same installation at three times: at its first stop, at its second, and when it was killed after that. */
    const times = { first: join(home, 'first'), stopped: join(home, 'stopped'), killed: join(home, 'killed') };
    let world: World;
    let copies = 0;

    before(async () => {
      const dataDir = join(home, 'base');
      renameSync(await makeDirectory('sqlite', true), dataDir);
      for (const [time, mark] of [
        ['first', 'a'],
        ['stopped', 'b'],
        ['killed', 'c'],
      ] as const) {
        const service = await startServiceProcess({ dataDir });
        world ??= await addOthers(service, others);
        // The checks after a start close the systems that they opened, which empties their logs.
        if (time === 'killed') await wait(2_000);
        await writeTo(service, world, mark);
        if (time === 'killed') {
          await fillLog(service);
          await service.kill();
        } else assert.equal(await service.stop(), 0);
        cpSync(dataDir, times[time], { recursive: true });
      }
    });
    after(() => rmSync(home, { recursive: true, force: true }));

    /** Lengthens the log of one system, so that its first record lies in the first half. */
    async function fillLog(service: ServiceProcess): Promise<void> {
      assert.ok(world.six);
      for (let n = 0; n < 30; n++) {
        const body = { Name: `n${n}`.repeat(200) };
        assert.equal((await callSystem(service, world.six, 'POST', path('Accounts'), { body })).status, 201);
      }
    }

    /** Copies the installation as it was at a time. */
    function copyOf(time: keyof typeof times): string {
      const dataDir = join(home, `copy-${++copies}`);
      cpSync(times[time], dataDir, { recursive: true });
      return dataDir;
    }

    /** Starts a service on a changed copy and asks every system. Asserts that the files of refused systems keep every byte. */
    async function served(
      dataDir: string,
      expected: Marks,
      work: (service: ServiceProcess) => Promise<void> = async () => {},
    ): Promise<string> {
      const refused = names.filter((name) => expected[name] === 503);
      const bytes = refused.map((name) => bytesUnder(folderOf(dataDir, name)));
      const service = await startServiceProcess({ dataDir });
      assert.deepEqual(await allMarks(service, world), expected, service.output());
      for (const name of refused) {
        await assertUnavailable(service, world[name]);
        const store = new RegExp(`"store":"${fileOf(dataDir, name)}(-wal)?"`);
        assert.match(service.output(), store, `the log names the file of ${name}`);
      }
      // By now every system was checked.
      assert.deepEqual(await allMarks(service, world), expected);
      assert.deepEqual(
        refused.map((name) => bytesUnder(folderOf(dataDir, name))),
        bytes,
      );
      await work(service);
      assert.equal(await service.stop(), 0);
      return service.output();
    }

    /** Asserts that a start fails with one line that says why, and that it creates nothing. */
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

    for (const time of ['stopped', 'killed'] as const)
      test(`files that are missing, empty, swapped, old or damaged after the service was ${time} are refused, and served when they are back`, async () => {
        const dataDir = copyOf(time);
        const file = (name: string) => fileOf(dataDir, name);
        const aside = join(home, `aside-${copies}`);
        renameSync(file('two'), aside);
        truncateSync(file('three'), 0);
        cpSync(fileOf(times[time], 'five'), file('four'));
        cpSync(fileOf(times[time], 'four'), file('five'));
        cpSync(fileOf(times.first, 'six'), file('six'));
        writeFileSync(file('seven'), 'x'.repeat(9_000));
        flip(file('eight'), 0, 100);
        flip(file('nine'), Math.floor(sizeOf(file('nine')) / 3), Math.floor(sizeOf(file('nine')) / 3));
        truncateSync(file('ten'), Math.floor(sizeOf(file('ten')) / 2));
        // After a kill, the log may repair what is damaged here: a start may serve it.
        const refused = time === 'stopped' ? others : others.filter((name) => !/eight|nine|ten/.test(name));
        for (const name of others) if (!refused.includes(name)) cpSync(fileOf(times[time], name), file(name));
        const expected = marks(whole[time], Object.fromEntries(refused.map((name) => [name, 503])));
        await served(dataDir, expected, async (service) => {
          const listed = await succeed(service, 'system', 'list');
          // A log that was left by a kill does not fit the file of another system, which may be seen first.
          const swapped = time === 'stopped' ? "another system's" : "(another system's|damaged)";
          const why: Record<string, string> = {
            ...{ two: 'missing', three: 'empty', four: swapped, five: swapped },
            ...{ six: 'older than the registry says', seven: 'damaged', eight: 'damaged', nine: 'damaged', ten: 'damaged' },
          };
          for (const name of refused)
            assert.match(listed, new RegExp(`^${name}\t\\S+\t${name}\t\\S+records\\.sqlite(-wal)? is ${why[name]}`, 'm'));
          assert.match(listed, /^testapp\t\S+\t\S+$/m);
          const { code, stdout } = await command(service, 'check');
          const checked = names.map((name) => `${name}\tstore\t${refused.includes(name) ? 'failed' : 'ok'}`);
          assert.deepEqual([code, stdout.match(/^\S+\tstore\t\w+/gm)], [1, checked]);
          assert.equal(existsSync(file('two')), false);
          renameSync(aside, file('two'));
          cpSync(fileOf(times[time], 'three'), file('three'));
          for (const name of ['two', 'three']) await untilMarks(service, world[name], whole[time]);
        });
        for (const name of refused.slice(2)) cpSync(fileOf(times[time], name), file(name));
        await served(dataDir, marks(whole[time]));
      });

    test("logs, marks and locks after a kill: another system's log is not applied, a lost or damaged one is reported, a lost mark is not", async () => {
      const dataDir = copyOf('killed');
      const log = (name: string) => fileOf(dataDir, name, '-wal');
      cpSync(log('testapp'), log('two'));
      cpSync(fileOf(dataDir, 'testapp', '-mark'), fileOf(dataDir, 'three', '-mark'));
      rmSync(fileOf(dataDir, 'testapp', '-mark'));
      truncateSync(join(dataDir, 'service.lock'), 0);
      for (const name of ['testapp', 'two', 'three']) rmSync(fileOf(dataDir, name, '-shm'), { force: true });
      rmSync(log('four'));
      truncateSync(log('five'), 5_000);
      flip(log('six'), Math.floor(sizeOf(log('six')) / 2), 4_096);
      const damaged = ['four', 'five', 'six'];
      const lost = { four: ['a', 'b'], five: ['a', 'b'] };
      const output = await served(dataDir, marks(whole.killed, { two: 503, ...lost }), async (service) => {
        for (const line of (await succeed(service, 'system', 'list')).trim().split('\n')) {
          const isReported = /\twrites since \d{4}-\d\d-\d\dT[\d:.]+Z may be missing$/.test(line);
          assert.equal(isReported, damaged.includes(line.split('\t')[0] ?? ''), line);
        }
        for (const name of damaged) {
          const { status } = await callSystem(service, world[name] ?? assert.fail(), 'POST', path('Accounts'), {
            body: { Name: 'more' },
          });
          assert.equal(status, 201);
        }
      });
      assert.equal(output.match(/may be missing/g)?.length, damaged.length, output);
      for (const name of damaged) assert.match(output, new RegExp(`"app":"${name}","since":"[^"]+".*may be missing`));
      cpSync(fileOf(times.killed, 'two', '-wal'), log('two'));
      const again = await served(dataDir, marks(whole.killed, lost));
      assert.doesNotMatch(again, /may be missing/, 'a clean end and a start report nothing again');
    });

    test('the registry', async (t) => {
      const dataDir = copyOf('stopped');
      const registry = join(dataDir, 'registry.sqlite');

      await t.test(
        'one that is missing, empty, cut to nothing or broken stops the start; nothing is made beside what it knew',
        async () => {
          const before = bytesUnder(dataDir);
          const envOf = ({ appId = '', masterKey = '', apiKey = '' } = {}) => ({
            APP_ID: appId,
            MASTER_KEY: masterKey,
            API_KEY: apiKey,
          });
          const env = envOf(world.two);
          rmSync(registry);
          const missing = /registry\.sqlite is missing, and there is \S+records\.sqlite.*system adopt APP/;
          await refusedStart(dataDir, missing, envOf(world.testapp));
          await refusedStart(dataDir, missing, env);
          for (const args of [['system', 'list'], ['system', 'add', '--app-id', 'new'], ['check']]) {
            const { code, stderr } = await runCommand(args, { DATA_DIR: dataDir }, dataDir);
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
        },
      );

      await t.test('a store that it does not know is reported and adopted; one that is forgotten keeps its files', async () => {
        const service = await startServiceProcess({ dataDir });
        assert.deepEqual(await allMarks(service, world), marks(whole.stopped));
        await succeed(service, 'system', 'forget', 'two');
        assert.equal(typeof (await marksOf(service, world.two)), 'number');
        assert.deepEqual(await marksOf(service, world.three), whole.stopped);
        assert.match((await command(service, 'system', 'add', '--app-id', 'two')).stderr, /two\S+ is there, .*system adopt two/);
        assert.match((await command(service, 'system', 'adopt', 'three')).stderr, /three is registered: system forget three/);
        await service.stop();
        const bytes = bytesUnder(folderOf(dataDir, 'two'));
        assert.ok(bytes.size > 0);
        const again = await startServiceProcess({ dataDir });
        assert.match(again.output(), /two\/records\.sqlite is not registered.*system adopt two/);
        assert.deepEqual(await marksOf(again, world.three), whole.stopped);
        assert.deepEqual(bytesUnder(folderOf(dataDir, 'two')), bytes);
        const output = await succeed(again, 'system', 'adopt', 'two');
        const adopted = { appId: 'two', masterKey: printed(output, /master/i), apiKey: printed(output, /api/i) };
        assert.deepEqual(await marksOf(again, adopted), whole.stopped);
        assert.equal(typeof (await marksOf(again, world.two)), 'number');
        await again.stop();
      });

      await t.test('if it is gone every store is adopted by hand; if it knows none the start fails', async () => {
        for (const name of readdirSync(dataDir)) if (name.startsWith('registry.')) rmSync(join(dataDir, name));
        const run = (...args: string[]) => runCommand(args, { DATA_DIR: dataDir }, dataDir);
        const { code, stdout, stderr } = await run('system', 'adopt', 'three');
        assert.equal(code, 0, stderr);
        const adopted = { appId: 'three', masterKey: printed(stdout, /master/i), apiKey: printed(stdout, /api/i) };
        const service = await startServiceProcess({ dataDir });
        assert.deepEqual(await marksOf(service, adopted), whole.stopped);
        assert.equal(service.output().match(/is not registered/g)?.length, names.length - 1);
        await service.stop();
        const bytes = bytesUnder(join(dataDir, 'systems'));
        assert.equal((await run('system', 'forget', 'three')).code, 0);
        assert.deepEqual(bytesUnder(join(dataDir, 'systems')), bytes);
        await refusedStart(dataDir, /nothing was made, since the registry does not know/, { APP_ID: 'fresh' });
      });
    });
  });
