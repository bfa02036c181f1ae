/** Backups and restores that are killed at a random moment, and destinations that fail: nothing half done, nothing left behind, nothing lost. */
import assert from 'node:assert/strict';
import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { query } from '../../src/storage/postgres/testing/server.ts';
import { smallDisk } from '../faults/small-disk.ts';
import { fileObject, uploadFile } from '../support/files.ts';
import { createMany, defineTable, find } from '../support/query.ts';
import { anyEngine, type EngineName, engines, type Service, startService } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';
import { backUp, begin, credentialsIn, done, folderForTest, namesBelow, refused } from './backups.ts';

/** Kills of each kind. */
const kills = Number(process.env.BACKUP_KILLS ?? 2);
/** Share of a command's duration in which the program is only being loaded, so that a kill shows nothing. */
const LOADING = 0.3;
type S3 = Awaited<ReturnType<typeof startS3>>;
/** The engine of the cases with S3: how an archive gets into a bucket does not depend on the engine. */
const [engineWithS3] = anyEngine;

/** Starts a service with some thousand records and files. */
async function startFilled(engine: EngineName): Promise<Service> {
  const service = await startService({ engine });
  await defineTable(service, 'Many', { n: 'Number', s: 'String', f: 'File' });
  const files = await Promise.all(Array.from({ length: 8 }, (_, n) => uploadFile(service, `f${n}.txt`, `${n}`.repeat(20_000))));
  await createMany(
    service,
    'Many',
    files.map((file, n) => ({ n, f: fileObject(file) })),
  );
  await createMany(
    service,
    'Many',
    Array.from({ length: 4_000 }, (_, n) => ({ n, s: `row ${n} ${'x'.repeat(n % 90)}` })),
  );
  return service;
}

/** Returns what a restore could leave behind: file names in DATA_DIR and schemas in PostgreSQL. */
async function stateOf({ dataDir, database }: Service): Promise<string[]> {
  const names = (await namesBelow(dataDir)).filter((name) => !/-(wal|shm)$|[.]lock$/.test(name));
  const schemas = database ? await query(database.url, 'SELECT nspname FROM pg_namespace ORDER BY 1') : [];
  return [...names, ...schemas.map((row) => JSON.stringify(row))];
}

/** Kills a command at a random moment. @param durationMs of the whole command @returns whether it had ended before the kill */
async function kill(
  service: Service,
  args: readonly string[],
  durationMs: number,
  env: Record<string, string> = {},
): Promise<boolean> {
  const { child, ended } = begin(service, args, env);
  await Promise.race([ended, wait((LOADING + Math.random() * (1 - LOADING)) * durationMs)]);
  child.kill('SIGKILL');
  const { code, stderr } = await ended;
  assert.ok(code === null || code === 0, stderr);
  return code === 0;
}

/** Runs a command to its end. @returns its duration in milliseconds */
async function durationOf(service: Service, args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const began = performance.now();
  const { code, stderr } = await begin(service, args, env).ended;
  assert.equal(code, 0, stderr);
  return performance.now() - began;
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/** Asserts that every backup in a destination can be read and verified. @returns their number */
async function assertAllVerify(service: Service, from: string, env: Record<string, string> = {}): Promise<number> {
  const listed = lines(await done(service, ['backup', 'list', '--from', from, '--json'], env)).map((line) => JSON.parse(line));
  for (const { file, unreadable } of listed) {
    assert.equal(unreadable, undefined);
    assert.match(await done(service, ['backup', 'verify', file], env), /all checksums agree/);
  }
  return listed.length;
}

for (const engine of engines)
  describe(`kills and faults of backups: ${engine}`, () => {
    let service: Service;
    let s3: S3;
    before(async () => {
      s3 = await startS3();
      service = await startFilled(engine);
    });
    after(async () => {
      await service.stop();
      await s3.stop();
    });

    test('a backup that is killed does not count as one', async (t) => {
      const folder = await folderForTest();
      const untouched = await stateOf(service);
      for (const [to, env] of [
        [folder, {}],
        ...(engine === engineWithS3 ? ([[s3.filesUrl('killed'), s3.env]] as const) : []),
      ] as const) {
        const args = ['backup', '--to', to, '--system', service.appId];
        const durationMs = await durationOf(service, args, env);
        let ended = 0;
        for (let n = 0; n < kills; n++) if (await kill(service, args, durationMs, env)) ended++;
        const whole = await assertAllVerify(service, to, env);
        assert.ok(whole >= 1 + ended);
        await done(service, args, env);
        assert.equal(await assertAllVerify(service, to, env), whole + 1);
        t.diagnostic(`${to.slice(0, 5)}…: ${kills} kills within ${Math.round(durationMs)} ms, ${ended} too late`);
      }
      assert.deepEqual(await stateOf(service), untouched, 'nothing else is left');
      assert.deepEqual(
        (await namesBelow(folder)).filter((name) => !name.endsWith('.rdsb')),
        [],
        'the next backup removes leftovers',
      );
      // Another machine may still be writing: partial files are removed after an hour without a write.
      const partial = join(folder, service.appId, '.20200101T000000Z.rdsb.abc.partial');
      const young = join(folder, service.appId, '.20200101T000000Z.rdsb.def.partial');
      const old = (Date.now() - 3_700_000) / 1_000;
      for (const path of [partial, young]) await writeFile(path, 'half');
      await utimes(partial, old, old);
      await backUp(service, folder, service.appId);
      const names = await namesBelow(join(folder, service.appId));
      assert.deepEqual(
        [names.includes(partial.split('/').at(-1) ?? ''), names.includes(young.split('/').at(-1) ?? '')],
        [false, true],
      );
    });

    test('a restore that is killed leaves nothing after the next command, and the present system as it was', async (t) => {
      const file = await backUp(service, await folderForTest(), service.appId);
      const present: System = { appId: service.appId, masterKey: service.masterKey, apiKey: service.apiKey };
      const rowsOf = async (system: System, table: string) => {
        const query = { count: 1, limit: 0 };
        const { status, body } = await callSystem(service, system, 'GET', `/platform/classes/${table}`, { query });
        return status === 200 ? body.count : status;
      };
      const rows = (system: System) => rowsOf(system, 'Many');
      const count = (await find(service, 'Many', { limit: 100_000 })).length;
      let late = 0;
      for (const how of ['--as', '--replace'] as const) {
        const target = how === '--as' ? present : await addSystem(service, '--app-id', 'Replaced');
        for (let n = 0; n < 3 && how === '--replace'; n++)
          await callSystem(service, target, 'POST', '/platform/classes/Kept', { body: { n } });
        const source = how === '--as' ? file : await backUp(service, await folderForTest(), target.appId);
        await done(service, ['system', 'list']);
        const untouched = await stateOf(service);
        const args = ['restore', source, ...(how === '--as' ? ['--as', 'Killed'] : ['--replace'])];
        const durationMs = await durationOf(service, args);
        const clear = async (isThere: boolean) => {
          if (how === '--as' && isThere) await done(service, ['system', 'remove', 'Killed', '--now']);
          for (const line of lines(await done(service, ['system', 'list', '--removed', '--json']))) {
            const { appId, restoreAs } = JSON.parse(line);
            if (appId === target.appId) await done(service, ['system', 'remove', String(restoreAs), '--now']);
          }
        };
        await clear(true);
        const settled = how === '--as' ? untouched.length : (await stateOf(service)).length;
        for (let n = 0; n < kills; n++) {
          if (await kill(service, args, durationMs)) late++;
          const isThere = (await done(service, ['system', 'list'])).includes('Killed');
          await afterCommand(service, async () => assert.equal(await rows(present), count));
          if (how === '--replace') await afterCommand(service, async () => assert.equal(await rowsOf(target, 'Kept'), 3));
          if (isThere || how === '--replace') await clear(isThere);
        }
        // A command that creates a system removes all leftovers.
        const { appId } = await addSystem(service);
        await done(service, ['system', 'remove', appId, '--now']);
        assert.equal((await stateOf(service)).length, settled, `${how}: ${await stateOf(service)}`);
        const output = await done(service, args);
        if (how === '--as') {
          const system = credentialsIn(output);
          await afterCommand(service, async () => assert.equal(await rows(system), count));
        }
        await clear(true);
        if (how === '--replace') await done(service, ['system', 'remove', target.appId, '--now']);
      }
      await done(service, ['check']);
      t.diagnostic(`${2 * kills} kills, ${late} too late`);
    });

    if (engine !== engineWithS3) return;

    test('S3: listed, verified, restored; a bucket that refuses or goes away is one line', async () => {
      const to = s3.filesUrl('all');
      const args = ['backup', '--to', to, '--system', service.appId];
      const [, , , , file = ''] = (await done(service, args, s3.env)).trim().split('\t');
      assert.match(file, new RegExp(`^s3://files/all/${service.appId}/\\d{8}T\\d{6}Z[.]rdsb[?]endpoint=`));
      assert.equal(await assertAllVerify(service, to, s3.env), 1);
      await done(service, ['restore', file, '--as', 'FromS3'], s3.env);
      await done(service, ['system', 'remove', 'FromS3', '--now']);
      await refused(service, ['backup', 'verify', file.replace('.rdsb', 'x.rdsb')], /there is no/, s3.env);
      const pruned = begin(service, [...args, '--keep', '1h'], s3.env);
      assert.equal((await pruned.ended).code, 0);

      const before = await assertAllVerify(service, to, s3.env);
      await refused(service, args, /refuses bucket|keys/, { ...s3.env, AWS_SECRET_ACCESS_KEY: 'another' });
      s3.intercept = (request, response) => {
        if (request.method !== 'PUT' && request.method !== 'POST') return false;
        response.writeHead(403, { 'Content-Type': 'application/xml' });
        response.end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>');
        return true;
      };
      await refused(service, args, /AccessDenied/, s3.env);
      s3.intercept = (request, response) => {
        if (request.method !== 'PUT' && request.method !== 'POST') return false;
        request.once('data', () => response.destroy());
        return true;
      };
      await refused(service, args, /bucket files/, s3.env);
      s3.intercept = (request, response) => {
        if (request.method !== 'GET' || !request.url?.includes('.rdsb')) return false;
        response.writeHead(200, { 'Content-Length': '100000' });
        response.write(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
        setTimeout(() => response.destroy(), 50);
        return true;
      };
      await refused(service, ['backup', 'verify', file], /./, s3.env);
      await refused(service, ['restore', file, '--as', 'Never'], /./, s3.env);
      s3.intercept = null;
      await s3.down();
      await refused(service, args, /cannot be reached/, s3.env);
      await refused(service, ['backup', 'list', '--from', to], /cannot be reached/, s3.env);
      await s3.up();
      assert.equal(await assertAllVerify(service, to, s3.env), before);
    });
  });

/** Made here, because what a `before` hook registers for removal is removed when the hook ends. */
const destination = await folderForTest();

for (const engine of anyEngine)
  describe(`destinations that cannot be written to: ${engine}`, () => {
    let service: Service;
    let file: string;
    before(async () => {
      service = await startFilled(engine);
      file = await backUp(service, destination, service.appId);
    });
    after(() => service.stop());

    test('a full disk, a path that is not a folder, a folder without access: one line, nothing left', async (t) => {
      const state = await stateOf(service);
      await refused(service, ['backup', '--to', file], /ENOTDIR|EEXIST|not a directory/i);
      const closed = join(destination, 'closed');
      await mkdir(closed);
      await chmod(closed, 0o500);
      if (process.getuid?.() !== 0) await refused(service, ['backup', '--to', closed], /EACCES/);
      const disk = smallDisk('size=2m');
      if (!disk) return t.skip('no file system can be mounted');
      for (const room of [0, 4_096, 60_000, 100_000]) {
        disk.fill(room);
        await refused(service, ['backup', '--to', disk.path], /ENOSPC|full|no space/i);
        assert.deepEqual(await namesBelow(disk.path), ['ballast']);
        disk.free();
      }
      await backUp(service, disk.path, service.appId);
      assert.deepEqual(await stateOf(service), state);
    });

    test('a restore onto a full disk leaves nothing, and succeeds with room', async (t) => {
      const disk = smallDisk('size=40m');
      if (!disk || engine !== 'sqlite') return t.skip('no file system can be mounted');
      const full = await startService({ dataDir: disk.path });
      const state = (await stateOf(full)).length;
      for (const room of [100_000, 3 << 20]) {
        disk.fill(room);
        const { code, stdout, stderr } = await begin(full, ['restore', file, '--as', 'Full']).ended;
        assert.deepEqual([code, stdout], [1, '']);
        // Log lines about the disk may come first.
        assert.match(stderr, /^(\{.*\}\n)*record-service: [^\n]*(no room|full|ENOSPC)[^\n]*\n$/i);
        disk.free();
        await done(full, ['system', 'list']);
        const { appId } = await addSystem(full);
        await done(full, ['system', 'remove', appId, '--now']);
        assert.equal((await stateOf(full)).filter((name) => name !== 'ballast').length, state, `${await stateOf(full)}`);
      }
      await done(full, ['restore', file, '--as', 'Full']);
      await full.stop();
    });
  });
