/** Output of `backup`, `backup list` and `backup verify`, and the format of the files. Reference: backup.md#format-of-a-backup. */
import assert from 'node:assert/strict';
import { copyFile, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { dataForTest } from '../support/data.ts';
import { fileObject, uploadFile } from '../support/files.ts';
import { createMany, defineTable } from '../support/query.ts';
import { engines, type Service, sampledEngines, startService } from '../support/service.ts';
import { addSystem, type System } from '../systems/cli.ts';
import {
  assertRefused,
  backUp,
  begin,
  decrypted,
  done,
  folderForTest,
  keyIn,
  manifestOf,
  membersOf,
  namesBelow,
  openedFile,
  partOf,
  refused,
  run,
} from './backups.ts';

/** Engines for which everything is tested: names, keys and output of archives do not depend on the engine that filled them. */
const sampled = sampledEngines();

const HOUR_MS = 3_600_000;
const fileForm = /^\d{8}T\d{6}Z[.]rdsb$/;
const nameAt = (at: number) => `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.rdsb`;
const lines = (text: string) => text.split('\n').filter((line) => line !== '');

for (const engine of engines)
  describe(`backups, their forms: ${engine}`, () => {
    let service: Service;
    let second: System;
    const text = 'the bytes of a file';
    before(async () => {
      service = await startService({ engine });
      second = await addSystem(service, '--name', 'The second', '--app-id', 'Second');
      await defineTable(service, 'Target', { s: 'String' });
      await defineTable(service, 'Many', { n: 'Number', f: 'File', all: 'Relation:Target' }, { indexes: { byN: { n: 1 } } });
      await createMany(service, 'Target', [{ objectId: 't1' }, { objectId: 't2' }]);
      const f = fileObject(await uploadFile(service, 'a.txt', text));
      const objects = ['t1', 't2'].map((objectId) => ({ __type: 'Pointer', className: 'Target', objectId }));
      await createMany(service, 'Many', [{ n: 1, f }, { n: 2, all: { __op: 'AddRelation', objects } }, { n: 3 }]);
    });

    test('one line a system; every part of a file is as its manifest says', async () => {
      const folder = await folderForTest();
      const began = Date.now();
      const rows = lines(await done(service, ['backup', '--to', folder])).map((line) => line.split('\t'));
      assert.deepEqual(rows.map(([appId]) => appId).sort(), [second.appId, service.appId].sort());
      for (const [appId = '', records = '', files = '', bytes = '', file = ''] of rows) {
        const members = await openedFile(file);
        const manifest = manifestOf(members);
        const { parts } = manifest;
        assert.deepEqual([dirname(file), basename(file).replace(fileForm, '')], [join(folder, appId), '']);
        assert.equal(bytes, `${(await stat(file)).size} bytes`);
        assert.equal((await stat(file)).mode & 0o777, 0o600);
        assert.equal(files, appId === second.appId ? '0 files' : '1 file');
        const sum = parts.filter(({ name }) => name.startsWith('rows/')).reduce((all, { count }) => all + count, 0);
        assert.equal(records, `${sum} records`);

        assert.deepEqual(Object.keys(manifest), ['format', 'version', 'engine', 'appId', 'name', 'madeAt', 'parts']);
        assert.deepEqual([manifest.format, manifest.engine, manifest.appId], [1, engine, appId]);
        assert.match(manifest.version, /^\d+[.]\d+[.]\d+/);
        if (appId === second.appId) assert.equal(manifest.name, 'The second');
        assert.equal(nameAt(Date.parse(manifest.madeAt)), basename(file));
        assert.ok(Date.parse(manifest.madeAt) >= began && Date.parse(manifest.madeAt) <= Date.now());

        assert.equal(members[0]?.name, 'manifest.json');
        assert.deepEqual(
          members.slice(1).map(({ name }) => name),
          parts.map(({ name }) => name),
        );
        for (const [at, part] of parts.entries()) {
          assert.deepEqual(Object.keys(part), ['name', 'count', 'bytes', 'sha256']);
          const { count, ...really } = partOf(members[at + 1] as (typeof members)[number]);
          assert.deepEqual(part, { ...really, count: /^(rows|members|files)\//.test(part.name) ? count : part.count });
        }
        const kinds = parts.map(({ name }) => name.replace(/\/.*/, ''));
        const inOrder = (kind: string) =>
          ['schema.json', 'rows', 'members', 'registry.json', 'files'].indexOf(kind.replace('members', 'rows'));
        assert.deepEqual(
          kinds,
          kinds.toSorted((a, b) => inOrder(a) - inOrder(b)),
        );
        assert.equal(new Set(parts.map(({ name }) => name)).size, parts.length);
      }
      assert.deepEqual((await namesBelow(folder)).map((name) => name.replace(/[^/]+$/, '')).sort(), ['Second/', 'testapp/']);
      assert.deepEqual(
        (await namesBelow(service.dataDir)).filter((name) => /spool|partial|rdsb/.test(name)),
        [],
      );
    });

    test('its rows, members and files are there; of keys it holds hashes', async () => {
      const file = await backUp(service, await folderForTest(), service.appId);
      const members = await openedFile(file);
      const of = (name: string) => String(members.find((one) => one.name === name)?.bytes);
      assert.equal(lines(of('rows/Many.ndjson')).length, 3);
      assert.equal(lines(of('members/Many.all.ndjson')).length, 2);
      assert.deepEqual(
        members.filter(({ name }) => name.startsWith('files/')).map(({ bytes }) => String(bytes)),
        [text],
      );
      assert.ok(Array.isArray(JSON.parse(of('schema.json'))));
      const registry = JSON.parse(of('registry.json'));
      assert.equal(registry.appId, service.appId);
      for (const { bytes } of members)
        for (const secret of [service.masterKey, service.apiKey]) assert.ok(!bytes.includes(secret));
      const without = await backUp(service, await folderForTest(), service.appId, '--no-files');
      assert.deepEqual(
        (await openedFile(without)).filter(({ name }) => name.startsWith('files/')),
        [],
      );
      assert.match(await done(service, ['backup', 'verify', without]), /^\d+ records, 0 files: all checksums agree\n$/);
    });

    if (!sampled.includes(engine)) return;

    test('verify and list print what the manifest says; --json is one object a line', async () => {
      const folder = await folderForTest();
      const made = lines(await done(service, ['backup', '--to', folder, '--json', '--quiet'])).map((line) => JSON.parse(line));
      for (const row of made) {
        assert.deepEqual(Object.keys(row).slice(0, 5), ['appId', 'records', 'files', 'bytes', 'file']);
        const counts = `${row.records} records, ${row.files} file${row.files === 1 ? '' : 's'}`;
        assert.equal(await done(service, ['backup', 'verify', row.file]), `${counts}: all checksums agree\n`);
        const verified = JSON.parse(await done(service, ['backup', 'verify', row.file, '--json']));
        assert.deepEqual([verified.appId, verified.records, verified.files], [row.appId, row.records, row.files]);
      }
      await writeFile(join(folder, service.appId, '.20200101T000000Z.rdsb.x.partial'), 'half');
      await writeFile(join(folder, service.appId, 'notes.txt'), 'x');
      const listed = lines(await done(service, ['backup', 'list', '--from', folder, '--json'])).map((line) => JSON.parse(line));
      assert.deepEqual(
        listed.map(({ appId, records, files, bytes, file, encrypted: is }) => ({ appId, records, files, bytes, file, is })),
        made
          .toSorted((a, b) => (a.appId < b.appId ? -1 : 1))
          .map(({ appId, records, files, bytes, file }) => ({ appId, records, files, bytes, file, is: false })),
      );
      const [{ madeAt, version }] = listed;
      assert.match(`${madeAt} ${version}`, /^20\S+Z \d+[.]\d+[.]\d+/);
      const text = await done(service, ['backup', 'list', '--from', folder, '--system', service.appId]);
      const own = listed.find(({ appId }) => appId === service.appId);
      assert.deepEqual(
        text.trim().split('\t'),
        Object.values(own).map((value) => (value === false ? 'plain' : String(value))),
      );
    });

    test('two in one second have two names', async () => {
      const folder = await folderForTest();
      const files = new Set<string>();
      for (let n = 0; n < 3; n++) files.add(await backUp(service, folder, second.appId));
      assert.equal(files.size, 3);
      assert.equal(lines(await done(service, ['backup', 'list', '--from', folder])).length, 3);
    });

    test('--to -: the standard output is the backup, stderr has the line', async () => {
      const { code, bytes, stderr } = await begin(service, ['backup', '--to', '-', '--system', service.appId]).ended;
      assert.equal(code, 0, stderr);
      assert.match(stderr, new RegExp(`^${service.appId}\t\\d+ records\t1 file\t${bytes.length} bytes\t-\n$`));
      assert.equal(manifestOf(await membersOf(bytes)).appId, service.appId);
      const only = ['backup', '--to', '-'];
      await refused(service, only, /one --system/);
      await refused(service, [...only, '--system', service.appId, '--system', second.appId], /one --system/);
      await refused(service, [...only, '--system', service.appId, '--keep', '1d'], /--keep/);
    });

    test('--recipient: each of the keys opens it, no other does', async () => {
      const folder = await folderForTest();
      const [a, b, other] = await Promise.all(['a', 'b', 'other'].map((name) => keyIn(folder, name)));
      assert.ok(a && b && other);
      const place = join(folder, 'kept');
      const file = await backUp(service, place, service.appId, '--recipient', a.recipient, '--recipient', b.recipient);
      const bytes = await readFile(file);
      assert.match(bytes.subarray(0, 30).toString(), /^age-encryption[.]org\/v1\n/);
      assert.equal(manifestOf(await membersOf(await decrypted(bytes, b.identity))).appId, service.appId);
      for (const { file: key } of [a, b])
        assert.match(await done(service, ['backup', 'verify', file, '--identity', key]), /all checksums agree\n$/);
      await refused(service, ['backup', 'verify', file], /encrypted.*--identity/);
      await refused(service, ['backup', 'verify', file, '--identity', other.file], /encrypted for other keys/);
      await refused(service, ['restore', file, '--as', 'Never'], /encrypted.*--identity/);
      await refused(service, ['restore', file, '--as', 'Never', '--identity', other.file], /encrypted for other keys/);
      await refused(service, ['backup', 'verify', file, '--identity', file], /--identity/);
      await refused(service, ['backup', 'verify', file, '--identity', join(folder, 'nowhere')], /--identity/);
      const list = ['backup', 'list', '--from', place];
      const shut = (await done(service, list)).trim().split('\t');
      assert.deepEqual([shut[3], shut[4], shut[6]], ['-', '-', 'encrypted']);
      const open = JSON.parse(await done(service, [...list, '--json', '--identity', a.file]));
      assert.deepEqual([open.files, open.encrypted], [1, true]);
      for (const bad of ['age1', 'ssh-rsa AAAA', a.identity])
        await refused(service, ['backup', '--to', place, '--recipient', bad], /no recipient of age/);
      assert.equal((await namesBelow(place)).length, 1);
    });

    test('what cannot be backed up is refused in one line', async () => {
      const folder = await folderForTest();
      await refused(service, ['backup', '--to', folder, '--system', 'Nobody'], /no system "Nobody"/);
      await refused(service, ['backup', '--to', folder, '--system', service.appId, '--system', 'No\nbody'], /no system/);
      await refused(service, ['backup'], /--to/);
      await refused(service, ['backup', '--to', 's3:nothing'], /--to/);
      await refused(service, ['backup', '--to', folder, '--keep', 'always'], /--keep/);
      await refused(service, ['backup', 'list', '--from', join(folder, 'nowhere')], /nowhere/);
      await refused(service, ['backup', 'verify', join(folder, 'nowhere')], /nowhere/);
      await refused(service, ['backup', 'verify', folder], /director/);
      await refused(service, ['restore', join(folder, 'nowhere'), '--as', 'Never'], /nowhere/);
      await refused(service, ['restore', join(folder, 'nowhere')], /--as NEWID or --replace/);
      await refused(service, ['restore', join(folder, 'nowhere'), '--as', 'Never', '--replace'], /--as NEWID or --replace/);
      assert.deepEqual(await namesBelow(folder), []);
    });

    test('--keep: the newest of each period stay, those of other systems and other files too', async () => {
      // Retention counts hours of the clock, so no hour may end during the test.
      const left = HOUR_MS - (Date.now() % HOUR_MS);
      if (left < 20_000) await wait(left);
      const folder = await folderForTest();
      const first = await backUp(service, folder, service.appId);
      const others = await backUp(service, folder, second.appId);
      await copyFile(first, join(folder, service.appId, 'notes.txt'));
      const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
      const old = (hours: number, minutes: number) => hour - hours * HOUR_MS + minutes * 60_000;
      const times = [old(1, 10), old(1, 50), old(2, 5), old(3, 5), old(50, 0), old(24 * 400, 0)];
      for (const at of times) await copyFile(first, join(folder, service.appId, nameAt(at)));
      await rename(first, join(folder, service.appId, nameAt(old(1, 55))));
      const { code, stdout, stderr } = await run(service, ['backup', '--to', folder, '--system', service.appId, '--keep', '3h']);
      assert.equal(code, 0, stderr);
      const made = basename(stdout.trim().split('\t').at(-1) ?? '');
      const deleted = lines(stderr).filter((line) => line.includes('deleted'));
      assert.equal(deleted.length, 5, stderr);
      const expected = [made, nameAt(old(1, 55)), nameAt(old(2, 5)), 'notes.txt'].map((name) => join(service.appId, name));
      assert.deepEqual(await namesBelow(folder), [...expected, others.slice(folder.length + 1)].sort());
    });
  });

for (const engine of engines)
  test(`without a system there is nothing to back up (${engine})`, async () => {
    const data = await dataForTest(engine);
    await done(data, ['system', 'remove', 'testapp', '--now']);
    await refused(data, ['backup', '--to', await folderForTest()], /no system/);
  });

test('an empty DATA_DIR has nothing to back up', async () => {
  const data = await dataForTest('sqlite', false);
  const result = await run(data, ['backup', '--to', await folderForTest()]);
  assertRefused(result, /holds no systems|no system/);
});
