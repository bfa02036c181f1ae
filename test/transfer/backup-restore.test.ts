/** A restored system has everything that was backed up, under a new id or under its own, on either engine. Reference: backup.md#restore. */
import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { dataForTest, makeDatabase } from '../support/data.ts';
import { assertServed, fileObject, publicUrl, recordUrl, uploadFile } from '../support/files.ts';
import { create, defineTable, find, type Row } from '../support/query.ts';
import { type EngineName, engines, type Service, startService } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { addSystem, type System } from '../systems/cli.ts';
import { backUp, credentialsIn, done, folderForTest, keyIn, namesBelow, refused } from './backups.ts';
import { isServed, seenAs } from './other-system.ts';
import { assertAlike, assertCredentials, assertFiles, fill, readAll, type World } from './world.ts';

/** Folder of the backups that the cases share. */
const keptIn = await folderForTest();
const privateText = 'for the eyes of Dana';

interface Filled {
  service: Service;
  world: World;
  /** A record of `Letters` and its private file. */
  letter: { id: string; name: string };
  read: Map<string, string>;
  /** Backup of the first system. */
  file: string;
}

/** Services by engine, filled once: a restore adds systems and leaves the others alone. */
const filled = new Map<EngineName, Promise<Filled>>();

function filledOn(engine: EngineName, folder: string): Promise<Filled> {
  const known = filled.get(engine) ?? fillOne(engine, folder);
  filled.set(engine, known);
  return known;
}

async function fillOne(engine: EngineName, folder: string): Promise<Filled> {
  const service = await startService({ engine });
  const world = await fill(service, 300);
  await defineTable(service, 'Letters', { f: 'PrivateFile' });
  const f = fileObject(await uploadFile(service, 'letter.txt', privateText));
  const id = await create(service, 'Letters', { f });
  const [row] = await find(service, 'Letters');
  const read = await readAll(service, world);
  const file = await backUp(service, folder, service.appId);
  return { service, world, letter: { id, name: String(fileIn(row).name) }, read, file };
}

/** Returns only the answers of one system, with its id replaced, so that systems can be compared. */
function ofSystem(read: ReadonlyMap<string, string>, appId: string): Map<string, string> {
  const own = [...read].filter(([request]) => request.startsWith(`${appId} `));
  return new Map(own.map(([request, text]) => [request.slice(appId.length), text.replaceAll(`/${appId}/`, '/APP/')]));
}

/** Leaves out the tables that a sign-in changes. */
const withoutSessions = (read: ReadonlyMap<string, string>) =>
  new Map([...read].filter(([request]) => !/\/(_Session|_User) /.test(request)));

/** Reads everything of a system with its master key. */
async function readOf(service: Service, system: System, world: World): Promise<Map<string, string>> {
  const at = seenAs(service, system);
  return ofSystem(await readAll(at, { ...world, other: system }), system.appId);
}

async function assertLetter(at: Service, { id, name }: Filled['letter']): Promise<void> {
  const place = { table: 'Letters', id, field: 'f' };
  await assertServed(recordUrl(at, name, place), privateText, {
    'X-Platform-Application-Id': at.appId,
    'X-Platform-Master-Key': at.masterKey,
  });
}

/** The file in the field `f` of a record. */
const fileIn = (row: Row | undefined) => row?.f as { name: string };

const removedIn = async (service: Service): Promise<Row[]> =>
  (await done(service, ['system', 'list', '--removed', '--json']))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

// From each engine and to each once. Restores to the same engine are covered below.
for (const [at, from] of engines.entries())
  for (const to of [engines[(at + 1) % engines.length] ?? from])
    describe(`restore --as: from ${from} to ${to}`, () => {
      test('all is there, to the byte; its keys are new; it can be backed up and restored again', async () => {
        const folder = await folderForTest();
        const { world, letter, read, file, service: source } = await filledOn(from, join(keptIn, from));
        const { service } = await filledOn(to, join(keptIn, to));
        const id = `Again-${from}`;
        const output = await done(service, ['restore', file, '--as', id]);
        assert.match(output, new RegExp(`^${id}: \\d+ records and 2 files restored and compared$`, 'm'));
        const system = credentialsIn(output);
        assert.equal(system.appId, id);
        await isServed(service, system);
        assertAlike(await readOf(service, system, world), ofSystem(read, source.appId));
        const at = seenAs(service, system);
        await assertServed(publicUrl(at, world.file.name), await bytesOf(publicUrl(source, world.file.name)));
        await assertLetter(at, letter);
        await assertFiles(at, { ...world, file: { ...world.file, url: publicUrl(at, world.file.name) } });
        const { token } = world;
        const none = { ...world, secondKey: system.apiKey };
        await assertCredentials(at, none);
        assert.equal((await at.call('GET', '/platform/users/me', { session: token })).status, 200);
        for (const key of [source.masterKey, source.apiKey, world.secondKey])
          for (const name of ['X-Platform-Master-Key', 'X-Platform-API-Key']) {
            const answer = await at.call('GET', '/platform/classes/Target', { as: 'anonymous', headers: { [name]: key } });
            assert.ok(answer.status >= 400, `a key of the first opens the new one: ${answer.text}`);
          }
        // An id that is taken or malformed is refused.
        await refused(service, ['restore', file, '--as', id], /taken/);
        await refused(service, ['restore', file, '--as', 'no id'], /an application id has/);
        const made = await at.call('POST', '/platform/classes/Hostile', { body: { s: 'new' } });
        assert.equal(made.status, 201, made.text);

        const again = await backUp(service, folder, id);
        const counts = /^(\d+ records, 2 files): all checksums agree\n$/.exec(
          await done(service, ['backup', 'verify', again]),
        )?.[1];
        assert.ok(counts);
        const now = await readOf(service, system, world);
        const third = credentialsIn(await done(service, ['restore', again, '--as', `${id}-3`]));
        await isServed(service, third);
        assertAlike(await readOf(service, third, world), now);
        for (const { appId } of [system, third]) await done(service, ['system', 'remove', appId, '--now']);
        await assertLetter(source, letter);
      });
    });

/** Returns the definition of each index of an embedded system. */
function indexesOf({ dataDir }: Service, appId: string): unknown[] {
  const db = new DatabaseSync(join(dataDir, 'systems', appId, 'records.sqlite'), { readOnly: true });
  try {
    return db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY sql").all();
  } finally {
    db.close();
  }
}

test('restore: the embedded engine has every index again', { skip: !engines.includes('sqlite') }, async () => {
  const { service, file } = await filledOn('sqlite', join(keptIn, 'sqlite'));
  const system = credentialsIn(await done(service, ['restore', file, '--as', 'indexed']));
  const indexes = indexesOf(service, system.appId);
  assert.ok(indexes.length > 100);
  assert.deepEqual(indexes, indexesOf(service, service.appId));
});

for (const engine of engines)
  describe(`restore: ${engine}`, () => {
    test('--without-files, a backup without them, and an encrypted one', async () => {
      const folder = await folderForTest();
      const { service, world } = await filledOn(engine, join(keptIn, engine));
      const key = await keyIn(folder, 'key');
      const shut = await backUp(service, folder, service.appId, '--recipient', key.recipient);
      const bare = await backUp(service, folder, service.appId, '--no-files');
      for (const [name, ...args] of [
        ['Without', shut, '--identity', key.file, '--without-files'],
        ['Bare', bare],
      ] as const) {
        const output = await done(service, ['restore', ...args, '--as', name]);
        assert.match(output, new RegExp(`^${name}: \\d+ records and 0 files restored`, 'm'));
        const system = credentialsIn(output);
        await isServed(service, system);
        const at = seenAs(service, system);
        const { status } = await fetch(publicUrl(at, world.file.name));
        assert.equal(status, 404, 'the folder exists, the file does not');
        await uploadFile(at, 'new.txt', 'uploads are taken');
        await rm(join(service.dataDir, 'files', name), { recursive: true });
        assert.equal((await fetch(publicUrl(at, world.file.name))).status, 503, 'a missing folder is an outage');
        await done(service, ['system', 'remove', name, '--now']);
      }
      const restored = JSON.parse(await done(service, ['restore', shut, '--identity', key.file, '--as', 'Whole', '--json']));
      assert.deepEqual([restored.appId, restored.files], ['Whole', 2]);
      await isServed(service, restored);
      await done(service, ['system', 'remove', 'Whole', '--now']);
    });

    test('--replace: the present one is put aside, its keys hold, and both keep their files', async () => {
      const service = await startService({ engine });
      const system = await addSystem(service, '--app-id', 'Exchanged');
      const at = seenAs(service, system);
      const folder = await folderForTest();
      const second =
        /\S+$/.exec((await done(service, ['key', 'add', '--system', system.appId, '--name', 'k'])).trim())?.[0] ?? '';
      const old = await uploadFile(at, 'old.txt', 'old bytes');
      await defineTable(at, 'Kept', { n: 'Number', f: 'File' });
      await create(at, 'Kept', { n: 1, f: fileObject(old) });
      const { name } = fileIn((await find(at, 'Kept'))[0]);
      const file = await backUp(service, folder, system.appId);
      const later = await uploadFile(at, 'later.txt', 'later bytes');
      await create(at, 'Kept', { n: 2, f: fileObject(later) });
      const before = await find(at, 'Kept');

      const output = await done(service, ['restore', file, '--replace']);
      assert.match(output, /^Exchanged: \d+ records and 1 file restored and compared$/m);
      assert.doesNotMatch(output, /key/i);
      // The keys from before are valid at once.
      const numbers = async (by: System) => (await find(seenAs(service, by), 'Kept')).map(({ n }) => n);
      await afterCommand(service, async () => assert.deepEqual(await numbers(system), [1]));
      const own = { as: 'anonymous', headers: { 'X-Platform-API-Key': second } } as const;
      assert.equal((await at.call('GET', '/platform/classes/Kept', own)).status, 200);
      await assertServed(publicUrl(at, name), 'old bytes');
      assert.equal((await fetch(publicUrl(at, later.name))).status, 404);

      const [aside] = (await removedIn(service)).filter(({ appId }) => appId === system.appId);
      await done(service, ['system', 'restore', system.appId, '--replace']);
      await afterCommand(service, async () => assert.deepEqual(await find(at, 'Kept'), before));
      await assertServed(publicUrl(at, fileIn(before[1]).name), 'later bytes');
      // The restored system is put aside now. Deleting it leaves the files of the active one.
      const [restored] = (await removedIn(service)).filter(({ appId }) => appId === system.appId);
      assert.notEqual(restored?.restoreAs, aside?.restoreAs);
      await done(service, ['system', 'remove', String(restored?.restoreAs), '--now']);
      await assertServed(publicUrl(at, name), 'old bytes');

      // The other way round: deleting what was put aside deletes only its files.
      await done(service, ['restore', file, '--replace']);
      await afterCommand(service, async () => assert.deepEqual(await numbers(system), [1]));
      for (const { appId, restoreAs } of await removedIn(service))
        if (appId === system.appId) await done(service, ['system', 'remove', String(restoreAs), '--now']);
      await assertServed(publicUrl(at, name), 'old bytes');
      const places = (await readdir(join(service.dataDir, 'files'))).filter((place) => place.startsWith(system.appId));
      assert.equal(places.length, 1, `${places}`);
      assert.equal((await namesBelow(join(service.dataDir, 'files', places[0] ?? ''))).length, 1);
      // A removed system does not prevent a restore.
      await done(service, ['system', 'remove', system.appId]);
      await done(service, ['restore', file, '--replace']);
      await afterCommand(service, async () => assert.deepEqual(await numbers(system), [1]));
      await done(service, ['check']);
      await service.stop();
    });

    test('--replace on another installation: the keys are good there, can be added to, and outlive a move and a backup', async () => {
      const folder = await folderForTest();
      const { service: source, world, letter, read, file } = await filledOn(engine, join(keptIn, engine));
      const data = await dataForTest(engine, false);
      const other = await startService({
        ...data,
        engine,
        env: { APP_ID: 'elsewhere', MASTER_KEY: 'its-own-master', API_KEY: 'its-own-key' },
      });
      await done(other, ['restore', file, '--replace']);
      const { appId, masterKey, apiKey } = source;
      const system: System = { appId, masterKey, apiKey };
      const at = seenAs(other, system);
      const keysHold = async (where: Service) => {
        assertAlike(withoutSessions(await readOf(where, system, world)), withoutSessions(ofSystem(read, source.appId)));
        // Signs in, too.
        await assertCredentials(seenAs(where, system), world);
        await assertLetter(seenAs(where, system), letter);
      };
      await isServed(other, system);
      await keysHold(other);
      const added = /\S+$/.exec((await done(other, ['key', 'add', '--system', system.appId, '--name', 'new'])).trim())?.[0] ?? '';
      const by = (key: string) => ({ as: 'anonymous', headers: { 'X-Platform-API-Key': key } }) as const;
      const status = async (key: string) => (await at.call('GET', '/platform/classes/Target', by(key))).status;
      await afterCommand(other, async () => assert.equal(await status(added), 200));
      const again = await backUp(other, folder, system.appId);
      await done(other, ['key', 'revoke', '--system', system.appId, '--name', 'second']);
      await afterCommand(other, async () => assert.ok((await status(world.secondKey)) >= 400));
      assert.equal(await status(added), 200);
      assert.match(await done(other, ['key', 'list', '--system', system.appId]), /new/);
      // The backup has the keys of its time.
      await done(other, ['restore', again, '--replace']);
      await afterCommand(other, async () => assert.equal(await status(world.secondKey), 200));
      await keysHold(other);
      assert.equal(await status(added), 200);
      await other.stop();
      // Moves in both directions are tested by move.test.ts.
      if (engines.length < 2 || engine !== 'sqlite') return;
      // A move leaves the files in place.
      const { dataDir } = data;
      const database = await emptyDatabase();
      await done({ dataDir, database }, ['move', '--to', 'postgres', '--quiet']);
      const there = await startService({ dataDir, database });
      await isServed(there, system);
      await keysHold(there);
      const moved = await backUp(there, folder, system.appId);
      await done(there, ['restore', moved, '--replace']);
      await afterCommand(there, () => keysHold(there));
      await there.stop();
    });
  });

async function emptyDatabase(): Promise<{ url: string }> {
  const database = await makeDatabase(false);
  after(database.drop);
  return database;
}

async function bytesOf(url: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}
