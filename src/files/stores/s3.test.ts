import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { FileStore } from './port.ts';
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
  const plain = await S3Store.open(locationOf(on.server.filesUrl('')), on.incoming);
  const id = await put(plain, 'app-1', 'text');
  assert.deepEqual(on.server.requests.slice(-1), [`PUT /files/app-1/${id}`]);
  await plain.close();
});

test('lists, and removes, over many pages', async () => {
  const paged = await S3Store.open(locationOf(on.server.filesUrl('paged')), on.incoming, 2);
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
