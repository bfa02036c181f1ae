/** Concurrent attachments, deletions and uploads: no answer is a fault, and the final state is consistent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, assertGone, assertServed, deleteFile, fileObject, publicUrl, type Uploaded, uploadUrl } from '../support/files.ts';
import type { Answer } from '../support/service.ts';
import { onDisk, usage } from './operator.ts';
import { onEachStore } from './stores.ts';

const ROUNDS = Number(process.env.FILE_ROUNDS ?? 70);
const CONCURRENCY = 10;

onEachStore((files) => {
  const { service } = files;
  /** Runs rounds, CONCURRENCY of them at a time. */
  const rounds = async (work: (round: number) => Promise<void>, count = ROUNDS) => {
    let next = 0;
    const lane = async () => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  };
  const attachedOr1 = ({ status, body, text }: Answer, success: number) => {
    if (status === success) return true;
    assert.deepEqual([status, body], [400, { code: 1 }], text);
    return false;
  };

  test('States: attaching and deleting at once: each attach is done or {code: 1}; deleted is deleted', async (t) => {
    const before = await usage(files);
    const table = await files.table({ F: 'File', G: 'PrivateFile', N: 'Number' });
    let done = 0;
    await rounds(async (round) => {
      const file = await files.upload('a.txt', `round ${round}`);
      const id = await files.create(table, { N: 0 });
      const field = round % 2 ? 'F' : 'G';
      const [put, post, removed] = await Promise.all([
        files.put(table, id, { [field]: fileObject(file), N: 1 }),
        files.post(table, { [field]: fileObject(file) }),
        deleteFile(service(), file.name),
      ]);
      assert.deepEqual([removed.status, removed.bytes.length], [200, 0]);
      const isPut = attachedOr1(put, 200);
      done += Number(isPut) + Number(attachedOr1(post, 201));
      // The update is complete or has no effect.
      const record = await files.read(table, id);
      assert.deepEqual([record.N, record[field]?.name], isPut ? [1, file.name] : [0, undefined]);
      await assertGone(uploadUrl(service(), file.name));
      await assertGone(publicUrl(service(), file.name));
    });
    assert.deepEqual(await usage(files), before);
    t.diagnostic(`${done} of ${2 * ROUNDS} attached`);
  });

  test('States: one file attached to many records at once', async () => {
    const file = await files.upload('a.txt', 'shared');
    const table = await files.table({ F: 'File', G: 'PrivateFile' });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => files.post(table, { [n % 2 ? 'F' : 'G']: fileObject(file) })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
    await assertServed(publicUrl(service(), file.name), 'shared');
    await assertGone(file.url);
  });

  test('States: files attached crosswise, in batches and one by one, do not lock each other out', async () => {
    const [one, two] = [fileObject(await files.upload()), fileObject(await files.upload())];
    const table = await files.table({ A: 'File', B: 'File' });
    await rounds(async (round) => {
      const body = round % 2 ? { A: one, B: two } : { A: two, B: one };
      const answer = await files.post(table, body);
      assert.equal(answer.status, 201, answer.text);
    }, ROUNDS / 2);
  });

  test('States: reading while a file is deleted: the whole file or 404', async () => {
    const bytes = Buffer.alloc(2_000_000, 'some text ');
    await rounds(async () => {
      const { name, url } = await files.upload('a.txt', bytes);
      const reads = Array.from({ length: 4 }, () => ask(url).catch(() => undefined));
      await deleteFile(service(), name);
      for (const got of await Promise.all(reads)) {
        if (got === undefined) continue;
        if (got.status === 200) assert.ok(got.bytes.equals(bytes));
        else assert.deepEqual([got.status, got.text], [404, 'File not found']);
      }
      await assertGone(url);
    }, ROUNDS / 7);
  });

  test('parallel uploads and deletes: what is counted is exact', async () => {
    const [used, stored] = [await usage(files), await onDisk(service())];
    const kept: { file: Uploaded; size: number }[] = [];
    await rounds(async (round) => {
      const size = 100 + round;
      const file = await files.upload('a.txt', 'x'.repeat(size));
      if (round % 3 === 0) kept.push({ file, size });
      else {
        // Two concurrent deletes are counted once.
        const answers = await Promise.all([deleteFile(service(), file.name), deleteFile(service(), file.name)]);
        for (const { status } of answers) assert.equal(status, 200);
      }
    });
    const after = await usage(files);
    const bytes = kept.reduce((sum, { size }) => sum + size, 0);
    assert.deepEqual([after.files, after.bytes], [used.files + kept.length, used.bytes + bytes]);
    if (files.kind === 'disk') assert.equal((await onDisk(service())).length, stored.length + kept.length);
    await Promise.all(kept.map(({ file }) => deleteFile(service(), file.name)));
    assert.deepEqual(await usage(files), used);
    assert.deepEqual(await onDisk(service()), stored);
  });
});
