import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import type { Store } from '../../storage/port.ts';
import {
  addFile,
  awaitedFiles,
  completeFile,
  filesBefore,
  findFile,
  type NewFile,
  readUsage,
  removeFile,
  setQuota,
} from '../metadata/file-metadata.ts';
import type { FileRow } from '../metadata/model.ts';

/** Returns a file with a new id. */
export function newFile(size: number | null, fileName = 'a.txt'): NewFile {
  const id = randomBytes(16).toString('hex');
  return { id, name: `${id}_${fileName}`, size, contentType: 'text/plain' };
}

/** Adds a file, and reads its row. */
export async function added(store: Store, size: number | null): Promise<FileRow> {
  const file = newFile(size);
  await addFile(store, file);
  return (await findFile(store, file.id)) ?? assert.fail();
}

const count = (results: readonly boolean[]) => results.filter(Boolean).length;

/** Tests of file metadata. @param stores of two processes */
export function testCatalog(stores: () => readonly [Store, Store]): void {
  const store = () => stores()[0];
  /** Asserts what some work adds to the usage. */
  async function counts<T>(added: readonly [files: number, bytes: number], work: () => Promise<T>): Promise<T> {
    const before = await readUsage(store());
    const result = await work();
    const after = await readUsage(store());
    assert.deepEqual([after.files - before.files, after.bytes - before.bytes], added);
    return result;
  }

  it('an upload is noted and counted', async () => {
    const file = newFile(10);
    const begun = Date.now();
    await counts([1, 10], () => addFile(store(), file));
    const { createdAt, updatedAt, ...found } = (await findFile(store(), file.id)) ?? assert.fail();
    assert.deepEqual(found, { ...file, isPublic: false, isPrivate: false });
    assert.ok(createdAt >= begun && createdAt <= Date.now());
    assert.equal(updatedAt, createdAt);
    for (const id of ['', 'f'.repeat(32), file.name]) assert.equal(await findFile(store(), id), null);
  });

  it('an awaited upload is counted when it has come, once', async () => {
    const file = newFile(null);
    await counts([0, 0], () => addFile(store(), file));
    assert.equal((await findFile(store(), file.id))?.size, null);
    const complete = () => stores().map((each) => completeFile(each, file.id, { size: 7, contentType: 'image/png' }));
    assert.equal(count(await counts([1, 7], () => Promise.all([...complete(), ...complete()]))), 1);
    const { size, contentType } = (await findFile(store(), file.id)) ?? assert.fail();
    assert.deepEqual([size, contentType], [7, 'image/png']);
    assert.equal(await completeFile(store(), 'f'.repeat(32), { size: 1, contentType: 'x' }), false);
  });

  it('the version of bytes that a form may change is kept', async () => {
    const { id } = await added(store(), null);
    await completeFile(store(), id, { size: 7, contentType: 'image/png', version: '"v1"' });
    assert.equal((await findFile(store(), id))?.version, '"v1"');
  });

  it('awaited uploads come page by page, by when they were announced', async () => {
    const from = Date.now();
    const announced = [await added(store(), null), await added(store(), null), await added(store(), null)];
    await added(store(), 1);
    const come = await added(store(), null);
    await completeFile(store(), come.id, { size: 7, contentType: 'x' });
    const ids = announced.map(({ id }) => id).sort();
    const page = async (after: string | null, period = { from, before: Date.now() + 1 }) =>
      (await awaitedFiles(store(), period, after, 2)).map(({ id }) => id);
    assert.deepEqual([await page(null), await page(ids[1] ?? null)], [ids.slice(0, 2), ids.slice(2)]);
    assert.deepEqual(await page(null, { from: 0, before: 1 }), []);
    assert.deepEqual(await page(null, { from: Date.now() + 1, before: Date.now() + 2 }), []);
  });

  it('a file is removed once, and no longer counted', async () => {
    const file = await added(store(), 20);
    const remove = () => stores().map((each) => removeFile(each, file));
    assert.equal(count(await counts([-1, -20], () => Promise.all([...remove(), ...remove()]))), 1);
    assert.equal(await findFile(store(), file.id), null);
  });

  it('an awaited upload is removed whether it came meanwhile or not', async () => {
    const awaited = await added(store(), null);
    assert.equal(await counts([0, 0], () => removeFile(store(), awaited)), true);
    const come = await added(store(), null);
    await counts([0, 0], async () => {
      await completeFile(store(), come.id, { size: 3, contentType: 'x' });
      assert.equal(await removeFile(store(), come, true), false);
      assert.equal(await removeFile(store(), come), true);
    });
    assert.equal(await findFile(store(), come.id), null);
  });

  it('what was touched meanwhile stays where that is asked for', async () => {
    const file = await added(store(), 1);
    assert.equal(await removeFile(store(), { ...file, updatedAt: file.updatedAt - 1 }, true), false);
    assert.equal(await removeFile(store(), file, true), true);
  });

  it('a quota is reached by the bytes that are there', async () => {
    const { files, bytes, quota } = await readUsage(store());
    assert.equal(quota, null);
    await setQuota(store(), bytes + 1, 'app');
    assert.deepEqual(await readUsage(store()), { files, bytes, quota: bytes + 1, outOfStorage: false });
    const file = await added(store(), 1);
    assert.equal((await readUsage(store())).outOfStorage, true);
    await removeFile(store(), file);
    await setQuota(store(), 0, 'app');
    assert.equal((await readUsage(store())).outOfStorage, true);
    await setQuota(store(), null, 'app');
    assert.deepEqual(await readUsage(store()), { files, bytes, quota: null, outOfStorage: false });
  });

  it('files that have been there for long come page by page', async () => {
    const ids = (await Promise.all([1, 2, 3].map((size) => added(store(), size)))).map(({ id }) => id);
    const found: string[] = [];
    const later = Date.now() + 1;
    for (let page = await filesBefore(store(), later, null, 2); page.length > 0; ) {
      assert.ok(page.length <= 2);
      found.push(...page.map(({ id }) => id));
      page = await filesBefore(store(), later, found.at(-1) ?? null, 2);
    }
    assert.deepEqual(found, [...found].sort());
    for (const id of ids) assert.ok(found.includes(id));
    assert.deepEqual(await filesBefore(store(), 1, null, 2), []);
  });
}
