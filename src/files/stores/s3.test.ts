import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';
import { parseS3Url } from '../../config/files-url.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { startS3, type TestS3 } from '../testing/s3-server.ts';
import type { FileStore, ReceivedFile } from './port.ts';
import { S3Store } from './s3.ts';
import { S3Fault } from './s3-client.ts';

const LARGE = 24 * 1024 * 1024;

let server: TestS3;
let directory: string;
let store: FileStore;

before(async () => {
  server = await startS3();
  useKeys(server.env);
  directory = await mkdtemp(join(tmpdir(), 'test-s3-incoming-'));
  store = await openStore('some/prefix');
});

after(async () => {
  await store?.close();
  await server.stop();
  await rm(directory, { recursive: true });
});

beforeEach(() => {
  server.intercept = null;
  server.requests.length = 0;
});

test('an object has the key prefix/appId/id', async () => {
  const id = newId();
  await store.put('app-1', id, await received(Buffer.from('text')));
  assert.deepEqual(server.requests, [`PUT /files/some/prefix/app-1/${id}`]);
});

test('without a prefix the key is appId/id', async () => {
  const plain = await openStore('');
  const id = newId();
  await plain.put('app-1', id, await received(Buffer.from('text')));
  assert.deepEqual(server.requests.slice(-1), [`PUT /files/app-1/${id}`]);
  await plain.close();
});

test('the received file is gone when the store has it', async () => {
  const file = await received(Buffer.from('text'));
  await store.put('app', newId(), file);
  assert.equal(existsSync(file.path), false);
});

test('lists, and removes, over many pages; a system whose id goes on is another one', async () => {
  const paged = await openStore('paged', 2);
  const ids = Array.from({ length: 7 }, newId).sort();
  for (const id of ids) await paged.put('app', id, await received(Buffer.from(id)));
  const other = newId();
  await paged.put('app2', other, await received(Buffer.from('other')));
  assert.deepEqual((await listed(paged, 'app')).sort(), ids);
  await paged.removeSystem('app');
  assert.deepEqual(await listed(paged, 'app'), []);
  assert.deepEqual(await listed(paged, 'app2'), [other]);
  await paged.close();
});

test('the list of a removal has an MD5, which old stores ask for', async () => {
  const id = newId();
  await store.put('md5', id, await received(Buffer.from('text')));
  let sent: string | string[] | undefined;
  server.intercept = ({ method, headers }) => {
    if (method === 'POST') sent = headers['content-md5'];
    return false;
  };
  await store.removeSystem('md5');
  assert.match(String(sent), /^[A-Za-z0-9+/]{22}==$/);
});

test('what cannot be removed is a fault', async () => {
  await store.put('kept', newId(), await received(Buffer.from('text')));
  server.intercept = (request, response) => {
    if (request.method !== 'POST') return false;
    response.end('<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code><Message>m</Message></Error></DeleteResult>');
    return true;
  };
  await assert.rejects(store.removeSystem('kept'), { name: 'S3Fault', code: 'AccessDenied' });
});

test('64 files are read at once', async () => {
  const id = newId();
  const bytes = randomBytes(1_000_000);
  await store.put('app', id, await received(bytes));
  const streams = await Promise.all(Array.from({ length: 64 }, () => store.open('app', id)));
  for (const stream of streams) assert.ok(stream && bytes.equals(await buffer(stream)));
});

test('a reader that goes away ends the request', async () => {
  const id = newId();
  await store.put('app', id, await received(randomBytes(LARGE)));
  let ended: Promise<unknown> | undefined;
  server.intercept = (_, response) => {
    ended = new Promise((resolve) => response.once('close', resolve));
    return false;
  };
  const stream = await store.open('app', id);
  stream?.destroy();
  await ended;
});

test('a request that fails in passing is made again', async () => {
  const id = newId();
  failing(2, (_, response) => response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'));
  await store.put('app', id, await received(Buffer.from('text')));
  failing(2, (request) => request.destroy());
  assert.equal((await store.stat('app', id))?.size, 4);
});

test('the store goes in the middle of a put: a fault, no half file, the received one is kept', async () => {
  const id = newId();
  const file = await received(randomBytes(LARGE));
  failing(3, (request) => request.once('data', () => request.destroy()));
  await assert.rejects(store.put('app', id, file), S3Fault);
  server.intercept = null;
  assert.equal(await store.stat('app', id), null);
  assert.equal((await stat(file.path)).size, LARGE);
  await store.put('app', id, file);
  assert.equal((await store.stat('app', id))?.size, LARGE);
});

test('a received file that is not there is a fault at once', async () => {
  const file = await received(Buffer.from('text'));
  await rm(file.path);
  await assert.rejects(store.put('app', newId(), file), { code: 'ENOENT' });
});

test('the store goes in the middle of a read: the stream fails, and later reads work', async () => {
  const id = newId();
  await store.put('app', id, await received(randomBytes(LARGE)));
  const stream = await store.open('app', id);
  assert.ok(stream);
  await server.down();
  await assert.rejects(buffer(stream));
  await assert.rejects(store.open('app', id), { name: 'S3Fault', code: 'ECONNREFUSED' });
  await server.up();
  assert.equal((await store.stat('app', id))?.size, LARGE);
});

test('a fault tells neither the key of the object nor those of the store', async () => {
  const id = newId();
  failing(1, (_, response) =>
    response
      .writeHead(403)
      .end(`<Error><Code>AccessDenied</Code><Message>no GetObject on ${id}</Message><Key>${id}</Key></Error>`),
  );
  await assert.rejects(store.open('app', id), (error) => {
    assert.ok(error instanceof S3Fault);
    assert.equal(error.message, 'S3 GetObject: AccessDenied (403)');
    assert.doesNotMatch(JSON.stringify({ ...error, stack: error.stack }), new RegExp(id));
    return true;
  });
});

test('a bucket that is not there stops the start', () =>
  refuses(server.filesUrl('').replace('s3://files', 's3://nothing'), /^FILES_URL: there is no bucket nothing at http:\S+$/));

test('a store that does not answer stops the start', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await refuses(`s3://files/?endpoint=http://127.0.0.1:${port}`, /^FILES_URL: http:\S+ cannot be reached \(ECONNREFUSED\)$/);
});

for (const [name, env, code] of [
  ['an unknown key', { AWS_ACCESS_KEY_ID: 'UNKNOWN' }, 'InvalidAccessKeyId'],
  ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'top-secret' }, 'SignatureDoesNotMatch'],
] as const)
  test(`${name} stops the start, and is not shown`, async () => {
    useKeys({ ...server.env, ...env });
    try {
      const line = new RegExp(`^FILES_URL: http:\\S+ refuses bucket files to these AWS keys \\(${code}\\)$`);
      await refuses(server.filesUrl(''), line);
    } finally {
      useKeys(server.env);
    }
  });

async function refuses(filesUrl: string, line: RegExp): Promise<void> {
  const location = parseS3Url(filesUrl);
  assert.ok(location);
  await assert.rejects(S3Store.open(location, directory), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, line);
    return true;
  });
}

async function openStore(prefix: string, pageSize?: number): Promise<FileStore> {
  const location = parseS3Url(server.filesUrl(prefix));
  assert.ok(location);
  return S3Store.open(location, directory, pageSize);
}

/** The first requests that come fail. */
function failing(times: number, how: (request: IncomingMessage, response: ServerResponse) => unknown): void {
  let left = times;
  server.intercept = (request, response) => {
    if (left-- <= 0) return false;
    how(request, response);
    return true;
  };
}

async function listed(from: FileStore, appId: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of from.list(appId)) ids.push(id);
  return ids;
}

async function received(bytes: Buffer): Promise<ReceivedFile> {
  const path = join(directory, `${(await readdir(directory)).length}-${newId()}`);
  await writeFile(path, bytes);
  return { path, size: bytes.length, sample: bytes.subarray(0, 65_536), discard: () => rm(path, { force: true }) };
}

function useKeys(env: Readonly<Record<string, string>>): void {
  // biome-ignore lint/style/noProcessEnv: this is where the client looks for keys
  Object.assign(process.env, env);
}

const newId = () => randomBytes(16).toString('hex');
