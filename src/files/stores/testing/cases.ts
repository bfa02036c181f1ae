import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { receive } from '../../uploads/store-upload.ts';
import type { FileStore, ReceivedFile } from '../port.ts';

export const newId = (): string => randomBytes(16).toString('hex');

/** Returns bytes as an upload leaves them. */
export function received(store: FileStore, bytes: Buffer): Promise<ReceivedFile> {
  const chunks = async function* () {
    yield bytes;
  };
  return receive(chunks(), store.incoming, Number.POSITIVE_INFINITY, () => {});
}

/** Registers the tests for all implementations of `FileStore`. @param open returns the store; called for each case */
export function fileStoreCases(open: () => FileStore): void {
  const put = async (store: FileStore, bytes: Buffer, appId = 'app', id = newId()): Promise<string> => {
    await store.put(appId, id, await received(store, bytes));
    return id;
  };
  const read = async (store: FileStore, id: string, range?: { start: number; end: number }, appId = 'app') => {
    const stream = await store.open(appId, id, range);
    return stream && buffer(stream);
  };
  const listed = async (store: FileStore, appId: string) => {
    const ids: string[] = [];
    for await (const { id } of store.list(appId)) ids.push(id);
    return ids.sort();
  };

  for (const size of [1, 100, 65_535, 65_536, 65_537, 3_000_001])
    test(`${size} bytes come back as they were`, async () => {
      const store = open();
      const bytes = randomBytes(size);
      const before = Date.now() - 5_000;
      const id = await put(store, bytes);
      assert.ok(bytes.equals((await read(store, id)) ?? Buffer.alloc(0)));
      const found = await store.stat('app', id);
      assert.deepEqual([found?.id, found?.size], [id, size]);
      assert.ok((found?.storedAt ?? 0) > before && (found?.storedAt ?? 0) < Date.now() + 5_000);
    });

  test('what was received is taken over', async () => {
    const store = open();
    const file = await received(store, Buffer.from('x'));
    await store.put('app', newId(), file);
    await assert.rejects(access(file.path), { code: 'ENOENT' });
    await file.discard();
  });

  test('a range is read from its first to its last byte', async () => {
    const store = open();
    const bytes = randomBytes(1_000_000);
    const id = await put(store, bytes);
    for (const [start, end] of [
      [0, 0],
      [0, 999_999],
      [1, 262_144],
      [262_143, 524_289],
      [999_999, 999_999],
    ] as const)
      assert.ok(bytes.subarray(start, end + 1).equals((await read(store, id, { start, end })) ?? Buffer.alloc(0)), `${start}`);
  });

  test('a stream may be left unread', async () => {
    const store = open();
    const id = await put(store, randomBytes(2_000_000));
    for (let times = 0; times < 20; times++) {
      const stream = await store.open('app', id);
      if (times % 2 === 0) for await (const _ of stream ?? []) break;
      stream?.destroy();
    }
    assert.equal((await read(store, id))?.length, 2_000_000);
  });

  test('what is not there is reported so, and counts as removed', async () => {
    const store = open();
    const id = newId();
    assert.equal(await store.stat('app', id), null);
    assert.equal(await store.open('app', id), null);
    assert.equal(await store.open('app', id, { start: 0, end: 1 }), null);
    await store.remove('app', id);
    await store.removeSystem('nobody');
    assert.deepEqual(await listed(store, 'nobody'), []);
  });

  test('a file is removed, and no other', async () => {
    const store = open();
    const ids = [await put(store, Buffer.from('a'), 'removing'), await put(store, Buffer.from('b'), 'removing')] as const;
    await store.remove('removing', ids[0]);
    assert.equal(await store.stat('removing', ids[0]), null);
    assert.deepEqual(await listed(store, 'removing'), [ids[1]]);
  });

  test('systems have files of their own', async () => {
    const store = open();
    const id = await put(store, Buffer.from('a'), 'one');
    assert.equal(await store.open('two', id), null);
    await put(store, Buffer.from('b'), 'two', id);
    assert.equal((await read(store, id, undefined, 'one'))?.toString(), 'a');
    const inOnes = await put(store, Buffer.from('c'), 'onesie');
    await store.removeSystem('one');
    assert.deepEqual(await listed(store, 'one'), []);
    assert.deepEqual(await listed(store, 'onesie'), [inOnes]);
    assert.equal((await read(store, id, undefined, 'two'))?.toString(), 'b');
    await put(store, Buffer.from('d'), 'one', id);
    assert.equal((await read(store, id, undefined, 'one'))?.toString(), 'd');
  });

  test('many are put, listed and read at once', async () => {
    const store = open();
    const files = Array.from({ length: 40 }, (_, index) => randomBytes(1 + index * 7_000));
    const ids = await Promise.all(files.map((bytes) => put(store, bytes, 'many')));
    assert.deepEqual(await listed(store, 'many'), ids.toSorted());
    const sizes = new Map<string, number>();
    for await (const { id, size } of store.list('many')) sizes.set(id, size);
    await Promise.all(
      ids.map(async (id, index) => {
        assert.equal(sizes.get(id), files[index]?.length);
        assert.ok(files[index]?.equals((await read(store, id, undefined, 'many')) ?? Buffer.alloc(0)));
      }),
    );
  });

  test('nothing but ids and application ids names a file', async () => {
    const store = open();
    for (const id of ['', '..', '../x', 'A'.repeat(32), `${'0'.repeat(32)}/`, `${'0'.repeat(31)}\n`])
      await assert.rejects(async () => store.open('app', id));
    for (const appId of ['', '..', 'a/b', '.incoming', 'a\0']) await assert.rejects(async () => store.open(appId, newId()));
  });
}
