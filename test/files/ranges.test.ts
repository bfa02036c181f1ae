/** Ranges and conditional requests: RFC 9110 (13, 14). Reference: files.md#serving. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ask, assertServed, credentials, fileObject } from '../support/files.ts';
import { bothStores, onEachStore } from './stores.ts';

const bytes = Buffer.from(Array.from({ length: 2_000 }, (_, n) => `line ${n}\n`).join(''));
const SIZE = bytes.length;

onEachStore((files) => {
  let urls: string[];
  const headers = () => credentials(files.service(), { as: 'master' });
  before(async () => {
    const table = await files.table({ A: 'File', B: 'PrivateFile' });
    const [one, two] = [await files.upload('a.txt', bytes), await files.upload('a.txt', bytes)];
    const id = await files.create(table, { A: fileObject(one), B: fileObject(two) });
    const { A, B } = await files.read(table, id);
    urls = [one.url, A.url, B.url];
  });
  /** Sends the same request to all addresses of a file. */
  const each = async (asked: Record<string, string>, check: (got: Awaited<ReturnType<typeof ask>>) => void, method = 'GET') => {
    for (const url of urls) check(await ask(url, { method, headers: { ...headers(), ...asked } }));
  };

  for (const [range, start, end] of [
    ['bytes=0-0', 0, 0],
    ['bytes=0-99', 0, 99],
    ['bytes=1000-1999', 1_000, 1_999],
    ['bytes=5000-', 5_000, SIZE - 1],
    ['bytes=-1', SIZE - 1, SIZE - 1],
    ['bytes=-500', SIZE - 500, SIZE - 1],
    [`bytes=-${SIZE * 2}`, 0, SIZE - 1],
    [`bytes=100-${SIZE * 2}`, 100, SIZE - 1],
    [`bytes=${SIZE - 1}-`, SIZE - 1, SIZE - 1],
    ['bytes=0-', 0, SIZE - 1],
  ] as const)
    test(`Range: ${range} is 206`, async () => {
      await each({ Range: range }, (got) => {
        assert.equal(got.status, 206);
        assert.equal(got.headers['content-range'], `bytes ${start}-${end}/${SIZE}`);
        assert.equal(got.headers['content-length'], String(end - start + 1));
        assert.ok(got.bytes.equals(bytes.subarray(start, end + 1)));
        assert.equal(got.headers['x-content-type-options'], 'nosniff');
      });
    });

  for (const range of [`bytes=${SIZE}-`, `bytes=${SIZE}-${SIZE + 5}`, 'bytes=99999999999-', 'bytes=-0'])
    test(`a range that cannot be is 416: ${range}`, async () => {
      await each({ Range: range }, (got) => {
        assert.equal(got.status, 416, got.text.slice(0, 100));
        assert.equal(got.headers['content-range'], `bytes */${SIZE}`);
      });
    });

  for (const range of ['bytes=0-1,5-6', 'bytes=0-1,-1', 'lines=0-1', 'bytes', 'bytes=', 'bytes=a-b', 'nonsense'])
    test(`several ranges, or none, are answered with the whole: ${range}`, async () => {
      await each({ Range: range }, (got) => {
        assert.equal(got.status, 200);
        assert.ok(got.bytes.equals(bytes));
        assert.equal(got.headers['content-range'], undefined);
      });
    });

  test('Range: files say that they take ranges', async () => {
    await each({}, (got) => assert.equal(got.headers['accept-ranges'], 'bytes'));
  });

  test('Range with HEAD says nothing (RFC 9110, 14.2)', async () => {
    await each({ Range: 'bytes=0-9' }, (got) => assert.deepEqual([got.status, got.bytes.length], [200, 0]), 'HEAD');
  });

  test('ETag: one for the bytes of a file; If-None-Match answers 304 without bytes', async () => {
    for (const url of urls) {
      const { headers: first } = await assertServed(url, bytes, headers());
      const etag = first.etag ?? '';
      assert.match(etag, /^(W\/)?"[^"]+"$/);
      assert.equal((await assertServed(url, bytes, headers())).headers.etag, etag);
      for (const match of [etag, '*', `"other", ${etag}`, `W/${etag.replace('W/', '')}`]) {
        const got = await ask(url, { headers: { ...headers(), 'If-None-Match': match } });
        assert.deepEqual([got.status, got.bytes.length], [304, 0], match);
        assert.equal(got.headers.etag, etag);
        assert.equal(got.headers['cache-control'], first['cache-control']);
      }
      for (const match of ['"other"', 'nonsense', `${etag.slice(0, -1)}x"`])
        await assertServed(url, bytes, { ...headers(), 'If-None-Match': match });
    }
  });

  test('Last-Modified: If-Modified-Since answers 304; If-None-Match is stronger', async () => {
    for (const url of urls) {
      const { headers: first } = await assertServed(url, bytes, headers());
      const at = first['last-modified'] ?? '';
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 600_000, at);
      const since = async (date: string, more = {}) =>
        (await ask(url, { headers: { ...headers(), 'If-Modified-Since': date, ...more } })).status;
      assert.equal(await since(at), 304);
      assert.equal(await since(new Date(Date.now() + 3_600_000).toUTCString()), 304);
      assert.equal(await since(new Date(Date.parse(at) - 1_000).toUTCString()), 200);
      assert.equal(await since('nonsense'), 200);
      assert.equal(await since(at, { 'If-None-Match': '"other"' }), 200);
    }
  });

  test('If-Range: the part where the file is the same, else the whole', async () => {
    for (const url of urls) {
      const { headers: first } = await assertServed(url, bytes, headers());
      const status = async (condition: string) =>
        (await ask(url, { headers: { ...headers(), Range: 'bytes=0-9', 'If-Range': condition } })).status;
      const etag = first.etag ?? '';
      if (!etag.startsWith('W/')) assert.equal(await status(etag), 206);
      assert.equal(await status('"other"'), 200);
      assert.equal(await status(new Date(0).toUTCString()), 200);
    }
  });

  test('Files: a client that breaks off in the middle does no harm', async () => {
    for (const url of urls) {
      const controller = new AbortController();
      const response = await fetch(url, { headers: headers(), signal: controller.signal });
      await response.body?.getReader().read();
      controller.abort();
      await assertServed(url, bytes, headers());
    }
  });
}, bothStores);
