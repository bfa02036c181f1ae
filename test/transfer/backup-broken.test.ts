/** Archives that are damaged, cut off, foreign, newer or inconsistent are refused in one line, and leave nothing. Reference: backup.md#verify. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { before, describe, test } from 'node:test';
import { createZstdCompress, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { query } from '../../src/storage/postgres/testing/server.ts';
import { fileObject, uploadFile } from '../support/files.ts';
import { createMany, date, defineTable, pointer } from '../support/query.ts';
import { anyEngine, engines, type Service, startService } from '../support/service.ts';
import { addSystem } from '../systems/cli.ts';
import { liesAbout, shortened } from './backup-lies.ts';
import {
  archived,
  assertRefused,
  backUp,
  begin,
  done,
  encrypted,
  folderForTest,
  keyIn,
  type Member,
  manifestOf,
  member,
  membersOf,
  namesBelow,
  refused,
  run,
  tarOf,
} from './backups.ts';

/** Random damages per engine. */
const damages = Number(process.env.BACKUP_DAMAGES ?? 52);

/** Fills a service with values of every type. @returns its backup */
async function madeBackup(service: Service, folder: string): Promise<Buffer> {
  await defineTable(service, 'Lies', {
    n: 'Number',
    s: 'String',
    b: 'Boolean',
    o: 'Object',
    list: 'Array',
    d: 'Date',
    f: 'File',
    all: 'Relation:Lies',
  });
  const f = fileObject(await uploadFile(service, 'a.txt', 'of a file '.repeat(50)));
  const row = { n: 11.5, s: 'text', b: true, o: { a: 1 }, list: [1], d: date('2024-01-01T00:00:00.000Z') };
  await createMany(service, 'Lies', [{ ...row, objectId: 'a', f }, { objectId: 'b' }, { objectId: 'c' }]);
  const objects = [pointer('Lies', 'a'), pointer('Lies', 'b')];
  await service.call('PUT', '/platform/classes/Lies/c', { body: { all: { __op: 'AddRelation', objects } } });
  return readFile(await backUp(service, folder, service.appId));
}

/** Returns the stores that exist: file names in DATA_DIR and schemas in PostgreSQL. */
async function storesOf({ dataDir, database }: Service): Promise<string[]> {
  const names = (await namesBelow(dataDir)).filter((name) => !/-(wal|shm)$/.test(name));
  const schemas = database ? await query(database.url, 'SELECT nspname FROM pg_namespace ORDER BY 1') : [];
  return [...names, ...schemas.map((row) => JSON.stringify(row))];
}

/** Returns everything that a restore could leave behind: stores, and systems in the registry. */
async function stateOf(service: Service): Promise<string[]> {
  const { dataDir, database, settings } = service;
  const data = { dataDir, ...(database && { database }) };
  const listed = [await done(data, ['system', 'list'], settings), await done(data, ['system', 'list', '--removed'], settings)];
  return [...(await storesOf(service)), ...listed];
}

function damagedCopy(bytes: Buffer, round: number): { bytes: Buffer; what: string } {
  const at = Math.floor(Math.random() * bytes.length);
  if (round % 3 === 0) return { bytes: bytes.subarray(0, at), what: `cut at ${at} of ${bytes.length}` };
  const copy = Buffer.from(bytes);
  if (round % 3 === 1) {
    const bit = 1 << Math.floor(Math.random() * 8);
    copy[at] = (copy[at] ?? 0) ^ bit;
    return { bytes: copy, what: `bit ${bit} of byte ${at} of ${bytes.length} flipped` };
  }
  const noise = randomBytes(1 + Math.floor(Math.random() * 200)).subarray(0, bytes.length - at);
  noise.copy(copy, at);
  return { bytes: copy, what: `${noise.length} bytes at ${at} of ${bytes.length} are noise` };
}

/**
 * Whether a damaged copy decompresses to the same bytes: some bits of zstd only size a buffer, or choose between equal matches. Checksums of
 * members are of decompressed bytes.
 */
function isUnpackedAlike(copy: Buffer, good: Buffer): boolean {
  try {
    return zstdDecompressSync(copy).equals(zstdDecompressSync(good));
  } catch {
    return false;
  }
}

for (const engine of engines)
  describe(`broken backups: ${engine}`, () => {
    let service: Service;
    let good: Buffer;
    let state: string[];
    before(async () => {
      service = await startService({ engine });
      good = await madeBackup(service, await folderForTest());
      // Deleting a system leaves a lock file.
      const { appId } = await addSystem(service);
      await done(service, ['system', 'remove', appId, '--now']);
      state = await stateOf(service);
    });

    test('cuts, flips and noise: one line, code 1, nothing left', async () => {
      const folder = await folderForTest();
      const file = join(folder, 'broken');
      const key = await keyIn(folder, 'key');
      const shut = await encrypted(good, key.recipient);
      const tries = [0, 1, 3, 4, 5, 18, 19, 20, good.length - 1, good.length - 4, good.length - 5].map((at) => ({
        bytes: good.subarray(0, at),
        what: `cut at ${at}`,
        shut: false,
      }));
      for (let round = 0; round < damages; round++) {
        const isShut = round % 2 === 0;
        tries.push({ ...damagedCopy(isShut ? shut : good, round), shut: isShut });
      }
      for (const [round, one] of tries.entries()) {
        await writeFile(file, one.bytes);
        const identity = one.shut ? ['--identity', key.file] : [];
        // Mostly `verify`, because a restore takes longer.
        const args = round % 8 === 7 ? ['restore', file, '--as', 'Never'] : ['backup', 'verify', file];
        const { code, stdout, stderr } = await run(service, [...args, ...identity]);
        const what = `${args[0]}: ${one.what}${one.shut ? ', encrypted' : ''}: ${stdout}${stderr}`;
        if (code === 0 && args[0] === 'restore') await run(service, ['system', 'remove', 'Never', '--now']);
        if (code === 0 && !one.shut && isUnpackedAlike(one.bytes, good)) continue;
        assert.deepEqual([code, stdout], [1, ''], what);
        assert.match(stderr, /^record-service: [^\n]+\n$/, what);
        assert.match(
          stderr,
          /cut off|damaged|checksum|empty|no backup of this service|ends after|is longer than|encrypted for other keys|is not in it|is no record|makes no schema|is not what it should be/,
          what,
        );
      }
      assert.deepEqual(await stateOf(service), state);
    });

    test('files of other programs', async () => {
      const folder = await folderForTest();
      const tar = await tarOf(await membersOf(good));
      const key = await keyIn(folder, 'key');
      const foreign: [string, Buffer][] = [
        ['a zip', Buffer.concat([Buffer.from('PK\u0003\u0004'), randomBytes(500)])],
        ['a tar', tar],
        ['a tar in gzip', gzipSync(tar)],
        ['nothing in zstd', zstdCompressSync(Buffer.alloc(0))],
        ['text in zstd', zstdCompressSync(Buffer.from('some text '.repeat(500)))],
        ['zeros in zstd', zstdCompressSync(Buffer.alloc(1 << 20))],
        ['a tar of others', await archived([member('a.txt', 'x'), member('manifest.json', '{}')])],
        ['a database', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(4_096)])],
        ['text in age', await encrypted(Buffer.from('some text'), key.recipient)],
      ];
      for (const [what, bytes] of foreign) {
        const file = join(folder, what.replaceAll(' ', '-'));
        await writeFile(file, bytes);
        const identity = what.endsWith('age') ? ['--identity', key.file] : [];
        await refused(service, ['backup', 'verify', file, ...identity], /no backup of this service|damaged|manifest[.]json/);
        await refused(
          service,
          ['restore', file, '--as', 'Never', ...identity],
          /no backup of this service|damaged|manifest[.]json/,
        );
      }
      assert.deepEqual(await stateOf(service), state);
    });

    test('archives that are whole and lie', async () => {
      const file = join(await folderForTest(), 'lie');
      const failed: string[] = [];
      const whole = await membersOf(good);
      let stores = await storesOf(service);
      // The unchanged archive is accepted: refusals are due to the lies.
      await writeFile(file, await archived(shortened(whole)));
      await done(service, ['restore', file, '--as', 'Truth']);
      await done(service, ['system', 'remove', 'Truth', '--now']);
      for (const [what, members, says] of liesAbout(whole)) {
        await writeFile(file, await archived(members));
        const how = /registry|key/.test(what) ? ['--replace'] : ['--as', 'Never'];
        const { code, stdout, stderr } = await run(service, ['restore', file, ...how]);
        const isRight = code === 1 && stdout === '' && /^record-service: [^\n]+\n$/.test(stderr) && says.test(stderr);
        if (!isRight) failed.push(`${what}: ${code} ${stdout}${stderr}`);
        if (code === 0) await run(service, ['system', 'remove', 'Never', '--now']);
        const now = await storesOf(service);
        if (JSON.stringify(now) !== JSON.stringify(stores)) failed.push(`${what}: left ${now}`);
        stores = now;
      }
      assert.deepEqual(failed, []);
      assert.deepEqual(await stateOf(service), state);
    });
  });

for (const engine of anyEngine)
  describe(`backups that swell: ${engine}`, () => {
    /** Size of the swollen member: zeros, which compress to a few kilobytes. Above the limit of memory below. */
    const bytes = 1024 ** 3;

    /** Writes an archive whose last member consists of zeros. */
    async function swollen(file: string, first: readonly Member[], name: string, size: number): Promise<void> {
      const archive = pack();
      const written = pipeline(Readable.from(archive, { objectMode: false }), createZstdCompress(), createWriteStream(file));
      for (const one of first) archive.entry({ name: one.name }, one.bytes);
      const entry = archive.entry({ name, size });
      const block = Buffer.alloc(4 << 20);
      for (let left = size; left > 0; left -= block.length)
        if (!entry.write(block.subarray(0, Math.min(left, block.length)))) await once(entry, 'drain');
      entry.end(null);
      archive.finalize();
      await written;
    }

    /** Runs a command that has to fail. @returns its maximum of resident memory, in megabytes */
    async function memoryOf(service: Service, args: readonly string[], says: RegExp): Promise<number> {
      const { child, ended } = begin(service, [...args, '--quiet']);
      let most = 0;
      const timer = setInterval(() => {
        const status = readFileSync(`/proc/${child.pid}/status`, { encoding: 'utf8', flag: 'r' });
        most = Math.max(most, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
      }, 10);
      child.once('exit', () => clearInterval(timer));
      const { code, stdout, stderr } = await ended;
      assertRefused({ code, stdout, stderr }, says, args.join(' '));
      return most;
    }

    test('memory is bounded', { skip: process.platform !== 'linux' }, async (t) => {
      const service = await startService({ engine });
      const folder = await folderForTest();
      const file = join(folder, 'swollen');
      const verify = ['backup', 'verify', file];
      const restore = ['restore', file, '--as', 'Never'];
      await swollen(file, [], 'manifest.json', bytes);
      const ofManifest = await memoryOf(service, verify, /manifest[.]json is longer/);
      const first = await membersOf(await readFile(await backUp(service, folder, service.appId)));
      const parts = [{ name: 'schema.json', count: 1, bytes, sha256: '0'.repeat(64) }];
      const manifest = member('manifest.json', { ...manifestOf(first), parts });
      await swollen(file, [manifest], 'schema.json', bytes);
      const ofSchema = await memoryOf(service, restore, /schema[.]json is longer|no room/);
      const schema = first[1] as Member;
      const rows = {
        name: `rows/${JSON.parse(String(schema.bytes))[0].className}.ndjson`,
        count: 1,
        bytes,
        sha256: '0'.repeat(64),
      };
      const lines = member('manifest.json', { ...manifestOf(first), parts: [manifestOf(first).parts[0], rows] });
      await swollen(file, [lines, schema], rows.name, bytes);
      const ofLine = await memoryOf(service, restore, /is no record|no room/);
      const ofParts = await memoryOf(service, verify, /ends after|checksum/);
      t.diagnostic(`megabytes: ${[ofManifest, ofSchema, ofLine, ofParts].map(Math.round).join(', ')}`);
      for (const most of [ofManifest, ofSchema, ofLine, ofParts]) assert.ok(most > 0 && most < 700, `${most} MB`);
      await service.stop();
    });
  });
