/** A file is uploaded, attached, deleted. Reference: files.md#public-files, files.md#private-files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertGone,
  assertServed,
  credentials,
  deleteFile,
  fileObject,
  publicUrl,
  recordUrl,
  shownFile,
  shownPrivate,
  uploadUrl,
} from '../support/files.ts';
import { unique } from '../support/records.ts';
import { onEachStore } from './stores.ts';

onEachStore((files) => {
  const { service } = files;
  const master = () => credentials(service(), { as: 'master' });

  test('States: uploaded, unattached: the url serves the bytes to any caller that knows the name, and the public address does not', async () => {
    const bytes = unique('text ');
    const { name, url } = await files.upload('a.txt', bytes);
    assert.equal(url, uploadUrl(service(), name));
    await assertServed(url, bytes);
    await assertGone(publicUrl(service(), name));
  });

  test('States: attached to a File field: url rewritten to the public static address, `public: true`', async () => {
    const bytes = unique('text ');
    const file = await files.upload('a.txt', bytes);
    const table = await files.table({ F: 'File' });
    const id = await files.create(table, {});
    const answer = await files.put(table, id, { F: fileObject(file) });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body).sort(), ['objectId', 'updatedAt']);
    const { F } = await files.read(table, id);
    assert.deepEqual(F, shownFile(service(), file.name));
    await assertServed(F.url, bytes);
    // The address of the upload serves a file until a PrivateFile field has held it.
    await assertServed(file.url, bytes);
  });

  test('States: attached to a PrivateFile field: url rewritten to the record-scoped path, `private: true`', async () => {
    const bytes = unique('text ');
    const file = await files.upload('a.txt', bytes);
    const place = await files.attached('PrivateFile', file);
    const { F } = await files.read(place.table, place.id);
    assert.deepEqual(F, shownPrivate(service(), file.name, place));
    await assertServed(F.url, bytes, master());
    // Once attached to a PrivateFile field, the file is served by the record's path only.
    await assertGone(file.url);
    await assertGone(publicUrl(service(), file.name));
  });

  test('a file in a File and in a PrivateFile field has both addresses, and the one of the upload no more', async () => {
    const file = await files.upload('a.txt', 'both');
    const table = await files.table({ A: 'File', B: 'PrivateFile' });
    const id = await files.create(table, { A: fileObject(file), B: fileObject(file) });
    const { A, B } = await files.read(table, id);
    assert.deepEqual(A, shownFile(service(), file.name));
    assert.deepEqual(B, shownPrivate(service(), file.name, { table, id, field: 'B' }));
    await assertServed(A.url, 'both');
    await assertServed(B.url, 'both', master());
    await assertGone(file.url);
  });

  test('the public address serves what a File field has ever held; taking it out of the record does not close it', async () => {
    const file = await files.upload('a.txt', 'once public');
    const { table, id } = await files.attached('File', file);
    await files.update(table, id, { F: { __op: 'Delete' } });
    assert.equal('F' in (await files.read(table, id)), false);
    await assertServed(publicUrl(service(), file.name), 'once public');
    await files.remove(table, id);
    await assertServed(publicUrl(service(), file.name), 'once public');
  });

  for (const state of ['unattached', 'File', 'PrivateFile'] as const)
    test(`States: a stored file (${state}), deleted: later reads of its addresses return 404`, async () => {
      const file = await files.upload('a.txt', 'to be deleted');
      const place = state === 'unattached' ? undefined : await files.attached(state, file);
      const held = place && (await files.read(place.table, place.id)).F;
      const answer = await deleteFile(service(), file.name);
      assert.deepEqual([answer.status, answer.bytes.length], [200, 0]);
      await assertGone(file.url);
      await assertGone(publicUrl(service(), file.name));
      if (!place) return;
      await assertGone(recordUrl(service(), file.name, place), master());
      // The record keeps its value.
      assert.deepEqual((await files.read(place.table, place.id)).F, held);
    });

  test('Files: the same file name and bytes twice are two files', async () => {
    const [one, two] = [await files.upload('same.txt', 'same'), await files.upload('same.txt', 'same')];
    assert.notEqual(one.name, two.name);
    await deleteFile(service(), one.name);
    await assertGone(one.url);
    await assertServed(two.url, 'same');
  });

  test('Files: bytes of every value come back as they were sent', async () => {
    const bytes = Buffer.concat([
      Buffer.from('%PDF-1.7\n'),
      Buffer.from(Uint8Array.from({ length: 300_000 }, (_, n) => n % 257)),
    ]);
    const file = await files.upload('bytes.pdf', bytes, { type: 'application/pdf' });
    await assertServed(file.url, bytes);
    const { table, id } = await files.attached('File', file);
    await assertServed((await files.read(table, id)).F.url, bytes);
  });
});
