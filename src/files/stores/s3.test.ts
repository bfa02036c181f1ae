import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { ByteRange, FileStore } from './port.ts';
import { S3Store } from './s3.ts';
import { fileStoreCases, newId, received } from './testing/cases.ts';
import { largeBytes, locationOf, storeOnS3 } from './testing/s3.ts';

const on = storeOnS3();

fileStoreCases(() => on.store);

test('an object has the key prefix/appId/id', async () => {
  const id = await put(on.store, 'app-1', 'text');
  assert.deepEqual(on.server.requests, [`PUT /files/some/prefix/app-1/${id}`]);
  assert.deepEqual(await readdir(on.incoming), []);
});

test('without a prefix the key is appId/id', async () => {
  const plain = await S3Store.open(locationOf(on.server.filesUrl('')), on.incoming, assert.fail);
  const id = await put(plain, 'app-1', 'text');
  assert.deepEqual(on.server.requests.slice(-1), [`PUT /files/app-1/${id}`]);
  await plain.close();
});

test('lists, and removes, over many pages', async () => {
  const paged = await S3Store.open(locationOf(on.server.filesUrl('paged')), on.incoming, assert.fail, 2);
  const ids: string[] = [];
  for (let count = 0; count < 7; count++) ids.push(await put(paged, 'app', 'text'));
  const other = await put(paged, 'app2', 'other');
  assert.deepEqual(await listed(paged, 'app'), ids.sort());
  await paged.removeSystem('app');
  assert.deepEqual(await listed(paged, 'app'), []);
  assert.deepEqual(await listed(paged, 'app2'), [other]);
  await paged.close();
});

test('the list of a removal has an MD5, which old stores ask for', async () => {
  await put(on.store, 'md5', 'text');
  let sent: string | string[] | undefined;
  on.server.intercept = ({ method, headers }) => {
    if (method === 'POST') sent = headers['content-md5'];
    return false;
  };
  await on.store.removeSystem('md5');
  assert.match(String(sent), /^[A-Za-z0-9+/]{22}==$/);
});

test('a version is read as long as it is there, by ranges too', async () => {
  const id = await put(on.store, 'app', 'the first text');
  const version = (await on.store.stat('app', id))?.version ?? assert.fail();
  const read = async (range?: ByteRange) => {
    const stream = await on.store.open('app', id, range, version);
    return stream && String(await buffer(stream));
  };
  const ranges = [
    [undefined, 'the first text'],
    [{ start: 4, end: 8 }, 'first'],
    [{ start: 0, end: -1 }, ''],
  ] as const;
  for (const [range, text] of ranges) assert.equal(await read(range), text);
  await on.store.put('app', id, await received(on.store, Buffer.from('other')));
  for (const [range] of [...ranges, [{ start: 10, end: 12 }]] as const) assert.equal(await read(range), null);
  assert.notEqual((await on.store.stat('app', id))?.version, version);
  // Without a version, too: the caller expects a longer file.
  assert.equal(await on.store.open('app', id, { start: 10, end: 12 }), null);
  await on.store.remove('app', id);
  assert.equal(await read(), null);
});

test('64 files are read at once', async () => {
  const bytes = randomBytes(1_000_000);
  const id = await put(on.store, 'app', bytes);
  const streams = await Promise.all(Array.from({ length: 64 }, () => on.store.open('app', id)));
  for (const stream of streams) assert.ok(stream && bytes.equals(await buffer(stream)));
});

test('a reader that goes away ends the request', async () => {
  const id = await put(on.store, 'app', largeBytes());
  let ended: Promise<boolean> | undefined;
  on.server.intercept = (_, response) => {
    ended = new Promise((resolve) => response.once('close', () => resolve(response.writableFinished)));
    return false;
  };
  const stream = await on.store.open('app', id);
  stream?.destroy();
  assert.equal(await ended, false);
});

async function put(store: FileStore, appId: string, content: string | Buffer): Promise<string> {
  const id = newId();
  await store.put(appId, id, await received(store, Buffer.from(content)));
  return id;
}

async function listed(store: FileStore, appId: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list(appId)) ids.push(id);
  return ids.sort();
}
