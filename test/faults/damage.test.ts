/**
 * Store files that are damaged, empty, gone or another system's, under a service of two systems: the one they belong to is refused, the other
 * is served (CONTRACT "Faults of the store"; the embedded engine). The exhaustive cases of what is missing stand with the systems' suites.
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { runToEnd } from '../edge/process.ts';
import { dataForTest } from '../support/data.ts';
import { path } from '../support/records.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { addSystem, callSystem, command, type System } from '../systems/cli.ts';
import { UNAVAILABLE } from './answers.ts';
import { linesOf } from './log.ts';
import { startWorld, type World } from './world.ts';

/** Changes so many bytes of a file. */
function flip(file: string, from: number, count: number): void {
  const bytes = readFileSync(file);
  for (let at = from; at < Math.min(from + count, bytes.length); at++) bytes[at] = (bytes[at] ?? 0) ^ 0x5a;
  writeFileSync(file, bytes);
}

/** What happens to the file of the first system while nobody runs. */
const damages: Record<string, (file: string, other: string) => void> = {
  'its header is flipped': (file) => flip(file, 0, 100),
  'a third of it is flipped': (file) => flip(file, Math.floor(statSync(file).size / 3), Math.floor(statSync(file).size / 3)),
  'it is empty': (file) => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    truncateSync(file);
  },
  'it is cut to half': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  "it is another system's": (file, other) => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    cpSync(other, file);
  },
};

const fileOf = ({ dataDir }: Pick<Service, 'dataDir'>, appId: string) => join(dataDir, 'systems', appId, 'records.sqlite');

/** The first system is refused, the second is served. */
async function assertRefused({ service }: World, second: System): Promise<void> {
  for (const method of ['GET', 'POST']) {
    const { status, text, headers } = await service.call(
      method,
      path('Accounts'),
      method === 'POST' ? { body: { Name: 'a' } } : {},
    );
    assert.deepEqual([status, text], [503, UNAVAILABLE]);
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.equal((await callSystem(service, second, 'GET', path('Accounts'))).status, 200);
  assert.equal((await callSystem(service, second, 'POST', path('Accounts'), { body: { Name: 'b' } })).status, 201);
}

function whatIsBroken(): void {
  test('the files of one system: it is refused until they are back, and the other is served', async (t) => {
    const data = await dataForTest('sqlite');
    const world = await startWorld(data);
    const second = await addSystem(world.service, '--name', 'Second', '--app-id', 'second-app');
    const [file, other] = [fileOf(data, world.service.appId), fileOf(data, second.appId)];
    const [folder, kept] = [join(file, '..'), join(data.dataDir, 'kept')];
    const keep = () => cpSync(folder, kept, { recursive: true });
    const putBack = () => {
      rmSync(folder, { recursive: true, force: true });
      renameSync(kept, folder);
    };
    for (const [name, damage] of Object.entries(damages))
      await t.test(name, async () => {
        // What is in the log would mend it.
        assert.equal(await world.service.stop(), 0);
        keep();
        try {
          damage(file, other);
          await world.restart();
          await assertRefused(world, second);
          assert.ok(world.service.output().includes(file), `the log names the file: ${world.service.output()}`);
          const listed = await command(world.service, 'system', 'list');
          assert.match(listed.stdout + listed.stderr, /testapp.*\b(damaged|missing|empty|another|older)/, 'system list');
        } finally {
          await world.service.kill();
          putBack();
          await world.restart();
        }
        assert.equal((await world.service.call('GET', path('Accounts'))).status, 200);
      });

    await t.test('the registry is gone: the start ends in a line that names the file, and nothing is made anew', async () => {
      await world.service.kill();
      const registry = ['registry.sqlite', 'registry.sqlite-wal', 'registry.sqlite-shm'].map((name) => join(data.dataDir, name));
      const there = registry.filter((path) => existsSync(path));
      for (const path of there) renameSync(path, `${path}.kept`);
      try {
        const { appId, masterKey, apiKey } = world.service;
        const env = { ...data.settings, APP_ID: appId, MASTER_KEY: masterKey, API_KEY: apiKey, PORT: '0', LOG_LEVEL: 'warn' };
        const { code, stderr } = await runToEnd(['start'], env, data.dataDir);
        assert.equal(code, 1, stderr);
        assert.ok(stderr.includes(join(file, '..')), stderr);
        assert.ok(!/^\s+at /m.test(stderr), stderr);
      } finally {
        for (const path of registry) rmSync(path, { force: true });
        for (const path of there) renameSync(`${path}.kept`, path);
        await world.restart();
      }
      await world.verify();
    });

    await t.test('it is away for seconds beside clients, and comes back', async () => {
      await world.beside({
        name: 'file away',
        expect: { broken: true },
        async fault() {
          await world.service.kill();
          renameSync(folder, kept);
          await world.restart();
          await assertRefused(world, second);
          await wait(700);
          putBack();
        },
      });
    });
    await world.close();
  });

  test('a log of changes that was cut, flipped or removed is told, and the system served', async (t) => {
    const data = await dataForTest('sqlite');
    let service = await startService({ ...data, env: { LOG_LEVEL: 'info' } });
    const wal = `${fileOf(data, service.appId)}-wal`;
    const told = () => linesOf(service.output()).filter((line) => JSON.stringify(line).includes('may be missing'));
    const restart = async () => {
      service = await startService({ ...data, env: { LOG_LEVEL: 'info' } });
    };
    const write = async () => {
      for (let n = 0; n < 30; n++)
        assert.equal((await service.call('POST', path('Accounts'), { body: { Name: `a${n}`.repeat(200) } })).status, 201);
    };
    await t.test('a kill alone is none', async () => {
      await write();
      await service.kill();
      await restart();
      assert.deepEqual(told(), []);
    });
    for (const [name, damage] of Object.entries({
      cut: () => truncateSync(wal, Math.floor(statSync(wal).size / 2)),
      flipped: () => flip(wal, Math.floor(statSync(wal).size / 2), 4_096),
      gone: () => rmSync(wal),
    }))
      await t.test(name, async () => {
        await write();
        await service.kill();
        damage();
        await restart();
        assert.equal((await service.call('GET', path('Accounts'), { query: { limit: 1 } })).status, 200);
        await write();
        const lines = told();
        assert.equal(lines.length, 1, service.output());
        assert.match(JSON.stringify(lines), /\d{4}-\d\d-\d\dT\d\d:\d\d/);
        assert.match((await command(service, 'system', 'list')).stdout, /\d{4}-\d\d-\d\dT\d\d:\d\d/);
      });
    assert.equal(await service.stop(), 0);
    await restart();
    assert.deepEqual(told(), [], 'a clean end and a start tell nothing anew');
    await service.stop();
  });
}

if (engines.includes('sqlite')) describe('damaged files (sqlite)', whatIsBroken);
