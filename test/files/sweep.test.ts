/** `record-service files sweep` removes files that no record mentions, a day after their upload or last attachment. Reference: files.md#sweep. */
import assert from 'node:assert/strict';
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { runToEnd } from '../edge/process.ts';
import { assertGone, assertServed, deleteFile, fileObject, publicUrl, type Uploaded, uploadFile } from '../support/files.ts';
import { clockAhead, signUp } from '../support/users.ts';
import { allowLarge, newPolicy } from './large.ts';
import { addSystem, onDisk, operate, usage } from './operator.ts';
import { onEachStore, useUnusedFiles, usual } from './stores.ts';

const HOUR = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR);

onEachStore(
  (files) => {
    const { service } = files;
    /** Runs a sweep with the clock that many hours ahead. */
    const sweep = (hours: number, ...args: string[]) =>
      operate(files, ['sweep', '--system', service().appId, ...args], clockAhead(hours * HOUR));
    const mentions = (output: string, { name }: { name: string }) => output.includes(name) || output.includes(name.slice(0, 32));

    /** Uploads files that records mention, each in another way. */
    const known = async (): Promise<Uploaded[]> => {
      const all: Uploaded[] = [];
      const next = async () => {
        const file = await files.upload('kept.txt', 'kept');
        all.push(file);
        return file;
      };
      await files.attached('File', await next());
      await files.attached('PrivateFile', await next());
      const table = await files.table({ S: 'String', H: 'HTML/XML', O: 'Object', A: 'Array', F: 'File' });
      await files.create(table, { S: `see ${(await next()).url} there` });
      await files.create(table, { H: `<img src="${(await next()).url}">` });
      await files.create(table, { O: { deep: [{ file: fileObject(await next()) }] } });
      await files.create(table, { A: ['x', fileObject(await next())] });
      await signUp(files, { profile_image: fileObject(await next()) });
      return all;
    };
    const orphan = () => files.upload('orphan.txt', 'orphan');

    test('States: an orphan older than a day is listed and removed; what records know stays', async () => {
      const kept = await known();
      const orphans = [await orphan(), await orphan()];
      const place = await files.attached('File', orphans[0] as Uploaded);
      await files.update(place.table, place.id, { F: { __op: 'Delete' } });
      const before = await usage(files);

      const early = await sweep(23);
      for (const file of [...kept, ...orphans]) assert.equal(mentions(early, file), false, early);
      const dry = await sweep(25, '--dry-run');
      for (const file of orphans) assert.equal(mentions(dry, file), true, dry);
      for (const file of kept) assert.equal(mentions(dry, file), false, dry);
      assert.deepEqual(await usage(files), before);
      for (const { url } of orphans) await assertServed(url, 'orphan');

      const output = await sweep(25);
      for (const file of orphans) {
        assert.equal(mentions(output, file), true, output);
        await assertGone(file.url);
        await assertGone(publicUrl(service(), file.name));
      }
      const after = await usage(files);
      assert.deepEqual([after.files, after.bytes], [before.files - 2, before.bytes - 12]);
      for (const file of kept) {
        assert.equal(mentions(output, file), false, output);
        await files.attached('File', file);
        await assertServed(publicUrl(service(), file.name), 'kept');
      }
      const again = await sweep(25);
      for (const file of [...kept, ...orphans]) assert.equal(mentions(again, file), false, again);
    });

    test('sweep --json and usage --json: one object a line', async () => {
      const file = await orphan();
      const rows = (await sweep(25, '--json'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const row = rows.find(({ name }) => name === file.name);
      assert.deepEqual(Object.keys(row), ['system', 'name', 'bytes', 'uploadedAt', 'why']);
      assert.deepEqual([row.system, row.bytes, row.why], [service().appId, 6, 'no record mentions it']);
      assert.match(row.uploadedAt, /^20\d\d-.*Z$/);
      const { files: count, removed } = rows.at(-1);
      assert.deepEqual([count, removed], [rows.length - 1, true]);
      const { system, ...used } = JSON.parse(await operate(files, ['usage', '--system', service().appId, '--json']));
      assert.deepEqual([system, used], [service().appId, await usage(files)]);
      assert.match(await sweep(25, '--quiet'), /^removed 0 files, 0 bytes$/m);
    });

    test('sweep --days: another age', async () => {
      const file = await orphan();
      assert.equal(mentions(await sweep(25, '--days', '2', '--dry-run'), file), false);
      assert.equal(mentions(await sweep(49, '--days', '2', '--dry-run'), file), true);
      assert.equal(mentions(await sweep(1, '--days', '0'), file), true);
      await assertGone(file.url);
    });

    test('an attachment makes a file young again', async () => {
      const file = await orphan();
      assert.equal(mentions(await sweep(25, '--dry-run'), file), true);
      const { table, id } = await files.attached('File', file);
      await files.remove(table, id);
      assert.equal(mentions(await sweep(23, '--dry-run'), file), false);
    });

    test('uploads that never came', async () => {
      await allowLarge(files);
      // Removes orphans of earlier tests.
      await sweep(25);
      const { name } = await newPolicy(service(), 'large.txt', 1_000);
      const before = await usage(files);
      assert.equal(mentions(await sweep(23), { name }), false);
      assert.equal(mentions(await sweep(25), { name }), true);
      assert.equal(mentions(await sweep(25), { name }), false);
      assert.deepEqual(await usage(files), before);
    });

    test('without --system all systems are swept, and each knows its own files', async () => {
      const other = { ...service(), ...(await addSystem(service())) };
      const [mine, theirs] = [await orphan(), await uploadFile(other, 'orphan.txt', 'theirs')];
      // A record of another system does not count.
      await files.create(await files.table({ S: 'String' }), { S: theirs.name });
      assert.equal(mentions(await sweep(25, '--dry-run'), theirs), false);
      const output = await operate(files, ['sweep'], clockAhead(25 * HOUR), runToEnd);
      for (const file of [mine, theirs]) {
        assert.equal(mentions(output, file), true, output);
        await assertGone(file.url);
      }
    });

    // Only on disk the test can write bytes without the service.
    if (files.kind === 'disk')
      test('bytes that no upload answers for: a day old they are removed, younger ones stay', async () => {
        const stored = await onDisk(service());
        const { name } = await files.upload('a.txt', 'bytes of an upload that a crash has cut');
        const path = (await onDisk(service())).find((one) => !stored.includes(one)) ?? '';
        const bytes = await readFile(path);
        await deleteFile(service(), name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, bytes);

        await operate(files, ['sweep']);
        await stat(path);
        await utimes(path, ago(25), ago(25));
        await operate(files, ['sweep', '--dry-run']);
        await stat(path);
        const file = await files.upload('a.txt', 'stays');
        await operate(files, ['sweep']);
        await assert.rejects(stat(path), { code: 'ENOENT' });
        await assertServed(file.url, 'stays');
      });
  },
  usual,
  useUnusedFiles,
);
