/** A real disk without room, on SQLite. Reference: faults.md#passing-faults. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { runToEnd } from '../edge/process.ts';
import { upload } from '../support/files.ts';
import { path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { UNAVAILABLE } from './answers.ts';
import { smallDisk } from './small-disk.ts';
import { startWorld } from './world.ts';

const SIZE_MB = 64;

/** Returns the files of a data directory that uploads left: all except databases. */
const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/sqlite|ballast|service[.]lock/.test(entry.name))
    .map(({ name }) => name)
    .sort();

if (engines.includes('sqlite'))
  describe('a disk without room (sqlite)', () => {
    test('beside clients, at a start after a kill, during uploads, at the end', async (t) => {
      const disk = smallDisk(`size=${SIZE_MB}m`);
      if (!disk) return t.skip('no file system can be mounted');
      const world = await startWorld({ dataDir: disk.path });

      await t.test('writes are refused, reads go on', async () => {
        await world.beside({
          name: 'full',
          expect: { writes: 'fail', reads: 'work', ready: 'ready', condition: 'the disk is full' },
          async fault() {
            disk.fill();
            await wait(1_500);
            disk.free();
          },
        });
      });

      await t.test('uploads are refused and leave nothing; one that fits goes through afterwards', async () => {
        const before = filesIn(disk.path);
        // Room for its first half.
        disk.fill(4 << 20);
        const answer = await upload(world.service, 'large.txt', Buffer.alloc(8 << 20, 'x'), { as: 'master' });
        assert.deepEqual([answer.status, answer.text], [503, UNAVAILABLE]);
        assert.match(String(answer.headers['retry-after']), /^\d+$/);
        disk.fill();
        const small = await upload(world.service, 'small.txt', 'x'.repeat(9_000), { as: 'master' });
        assert.deepEqual([small.status, small.text], [503, UNAVAILABLE]);
        disk.free();
        assert.deepEqual(filesIn(disk.path), before);
        const again = await upload(world.service, 'small.txt', 'x'.repeat(9_000), { as: 'master' });
        assert.equal(again.status, 201, again.text);
      });

      await t.test('a start after a kill reads, and writes once there is room', async () => {
        await world.beside({
          name: 'killed while full',
          expect: { broken: true },
          async fault() {
            disk.fill();
            try {
              await wait(300);
              await world.service.kill();
              await world.restart();
              const read = await world.service.call('GET', path('Accounts'), { query: { limit: 1 } });
              assert.equal(read.status, 200, read.text + world.service.output());
              await wait(500);
            } finally {
              disk.free();
            }
          },
        });
      });

      await t.test('SIGTERM while it is full: code 0', async () => {
        await world.verify();
        disk.fill();
        assert.equal(await world.service.stop(), 0);
        disk.free();
        await world.restart();
      });
      await world.close();
    });

    test('at the first start: one line that names the place, code 1; with room it starts', async (t) => {
      const disk = smallDisk('size=1m');
      if (!disk) return t.skip('no file system can be mounted');
      const env = { DATA_DIR: disk.path, PORT: '0', HOST: '127.0.0.1', APP_ID: 'testapp', LOG_LEVEL: 'warn' };
      const { code, stderr } = await runToEnd(['start'], env, disk.path);
      assert.equal(code, 1);
      const messages = stderr.split('\n').filter((line) => line.startsWith('record-service:'));
      assert.equal(messages.length, 1, stderr);
      assert.ok(messages[0]?.includes(disk.path) && /full/.test(messages[0]), messages[0]);
      disk.enlarge(`size=${SIZE_MB}m`);
      const service = await startServiceProcess({ dataDir: disk.path });
      assert.equal(await service.stop(), 0);
    });

    test('no inodes: uploads are refused, records go on', async (t) => {
      const disk = smallDisk(`size=${SIZE_MB}m,nr_inodes=80`);
      if (!disk) return t.skip('no file system can be mounted');
      const world = await startWorld({ dataDir: disk.path });
      await world.beside({
        name: 'no inodes',
        expect: { writes: 'work', reads: 'work', ready: 'ready' },
        async fault() {
          const taken = join(disk.path, 'taken');
          mkdirSync(taken);
          for (let n = 0; ; n++)
            try {
              writeFileSync(join(taken, String(n)), '');
            } catch {
              break;
            }
          const refused = await upload(world.service, 'a.txt', 'text', { as: 'master' });
          assert.deepEqual([refused.status, refused.text], [503, UNAVAILABLE]);
          await wait(500);
          rmSync(taken, { recursive: true });
        },
      });
      const taken = await upload(world.service, 'a.txt', 'text', { as: 'master' });
      assert.equal(taken.status, 201, taken.text);
      await world.close();
    });
  });
