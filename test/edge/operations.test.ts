/** `GET /`, health, HEAD, compressed answers. Reference: operations.md#health-checks, requests.md#compression. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { ask } from '../support/files.ts';
import { create, createMany, tableName } from '../support/query.ts';
import { onSampledEngine } from './sampled.ts';

const decoders = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };
/** The Accept header of a browser. */
const page = 'text/html,application/xhtml+xml,*/*;q=0.8';

onSampledEngine((get) => {
  const table = tableName('Ops');
  const headers = (more: Record<string, string> = {}) => ({
    'X-Platform-Application-Id': get().appId,
    'X-Platform-Master-Key': get().masterKey,
    ...more,
  });
  const fetched = (path: string, more?: Record<string, string>, method = 'GET') =>
    ask(get().url + path, { method, headers: headers(more) });

  test('GET / names the service to a program, and redirects a browser to the console', async () => {
    for (const accept of [undefined, '*/*', 'application/json']) {
      const { status, body } = await ask(`${get().url}/`, { headers: accept === undefined ? {} : { Accept: accept } });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['name', 'version', 'console', 'docs']);
      assert.match(body.version, /^\d+\.\d+\.\d+$/);
      assert.equal(body.console, `${get().url}/console/`);
    }
    const answer = await ask(`${get().url}/`, { headers: { Accept: page } });
    assert.deepEqual([answer.status, answer.headers.location], [302, `${get().url}/console/`]);
    assert.match(answer.headers.vary ?? '', /accept/i);
  });

  test('health: live, ready, and /health as /health/ready', async () => {
    for (const [path, status] of [
      ['/health/live', 'live'],
      ['/health/ready', 'ready'],
      ['/health', 'ready'],
    ] as const) {
      const answer = await ask(get().url + path);
      assert.deepEqual([answer.status, answer.body], [200, { status }]);
    }
  });

  test('HEAD answers as GET without a body, on every GET address', async () => {
    const objectId = await create(get(), table, { n: 1 });
    await createMany(
      get(),
      table,
      Array.from({ length: 50 }, (_, n) => ({ n, s: 'x'.repeat(100) })),
    );
    const paths = [
      '/',
      '/health',
      '/health/live',
      '/health/ready',
      `/platform/classes/${table}`,
      `/platform/classes/${table}/${objectId}`,
      `/platform/classes/${table}/nowhere`,
      `/platform/classes/${table}?where=%7B`,
      `/platform/classes-aggregate/${table}?group=%7B%22objectId%22%3Anull%7D`,
      '/platform/schemas',
      `/platform/schemas/${table}`,
      '/platform/schemas/NoSuchTable',
      '/platform/users',
      '/platform/users/me',
      '/platform/sessions',
      '/platform/roles',
      '/platform/nothing',
      `/static/${get().appId}/nothing`,
      `/password-reset/${get().appId}?token=none`,
      `/mcp/${get().appId}`,
      `/.well-known/oauth-protected-resource/mcp/${get().appId}`,
      `/oauth/${get().appId}/jwks`,
      `/oauth/${get().appId}/authorize`,
      `/functions/${get().appId}/none`,
      '/platform/sessions/me',
      '/platform/login',
    ];
    const upload = await get().call('POST', '/platform/files/lines.txt', {
      body: 'a line of text\n'.repeat(1_000),
      headers: { 'Content-Type': 'text/plain' },
    });
    const file = new URL(upload.body.url).pathname;
    for (const path of [...paths, file])
      for (const accepted of [undefined, 'identity', 'gzip', 'br, zstd']) {
        const headers: Record<string, string> = accepted === undefined ? {} : { 'Accept-Encoding': accepted };
        const [got, head] = [await fetched(path, headers), await fetched(path, headers, 'HEAD')];
        const about = `${path} ${accepted}`;
        assert.deepEqual([head.status, head.bytes.length], [got.status, 0], about);
        for (const name of ['content-type', 'vary', 'etag']) assert.equal(head.headers[name], got.headers[name], about);
        // If present, it is the length that a GET would announce (RFC 9110, 8.6).
        const { 'content-length': length = String(got.bytes.length) } = head.headers;
        assert.equal(length, String(got.bytes.length), about);
      }
    const { headers } = await fetched(file, {}, 'HEAD');
    assert.equal(headers['content-length'], '15000');
  });

  test('a HEAD of a long list does not read it to its end', async () => {
    const name = tableName('Long');
    for (let part = 0; part < 3; part++)
      await createMany(
        get(),
        name,
        Array.from({ length: 1_000 }, () => ({ s: 'x'.repeat(1_000) })),
      );
    for (let round = 0; round < 20; round++) {
      const head = await fetched(`/platform/classes/${name}?limit=3000`, {}, 'HEAD');
      assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    }
    assert.equal((await fetched(`/platform/classes/${name}?limit=3000`)).body.results.length, 3_000);
  });

  for (const [encoding, decode] of Object.entries(decoders))
    test(`answers of more than 1 KB come as ${encoding} if only that is accepted: lists, records, long and short`, async () => {
      const plain = await fetched('/platform/schemas');
      const packed = await fetched('/platform/schemas', { 'Accept-Encoding': encoding });
      assert.equal(packed.headers['content-encoding'], encoding);
      assert.match(packed.headers.vary ?? '', /accept-encoding/i);
      assert.ok(packed.bytes.length * 4 < plain.bytes.length, `${packed.bytes.length} of ${plain.bytes.length}`);
      assert.deepEqual(decode(packed.bytes), plain.bytes);
      const some = tableName('Packed');
      const objectId = await create(get(), some, { s: 'y'.repeat(1_500) });
      const one = await fetched(`/platform/classes/${some}/${objectId}`, { 'Accept-Encoding': encoding });
      assert.equal(one.headers['content-encoding'], encoding);
      assert.equal(JSON.parse(String(decode(one.bytes))).objectId, objectId);
    });

  test('what is accepted decides: zstd before br before gzip, none if none is, and nothing small', async () => {
    const encodingOf = async (path: string, accepted?: string) =>
      (await fetched(path, accepted === undefined ? {} : { 'Accept-Encoding': accepted })).headers['content-encoding'];
    assert.equal(await encodingOf('/platform/schemas', 'gzip, deflate, br, zstd'), 'zstd');
    assert.equal(await encodingOf('/platform/schemas', 'gzip, deflate, br'), 'br');
    assert.equal(await encodingOf('/platform/schemas', 'gzip, br;q=0'), 'gzip');
    for (const none of [undefined, 'identity', 'compress', 'gzip;q=0', ''])
      assert.equal(await encodingOf('/platform/schemas', none), undefined);
    assert.equal(await encodingOf('/', 'gzip'), undefined);
    // A cache must not serve an encoding that the client does not accept. The threshold counts bytes, not characters.
    assert.match((await fetched('/platform/schemas')).headers.vary ?? '', /accept-encoding/i);
    const hebrew = tableName('Hebrew');
    const short = `/platform/classes/${hebrew}/${await create(get(), hebrew, { s: '\u05d0'.repeat(450) })}`;
    assert.equal(await encodingOf(short, 'gzip'), 'gzip');
    assert.match((await fetched(short)).headers.vary ?? '', /accept-encoding/i);
  });

  test('files: a picture goes out as it is, a text compressed; its validator and ranges hold', async () => {
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(4_000)]);
    const text = Buffer.from('a line of text\n'.repeat(1_000));
    const url = async (name: string, body: Buffer) => {
      const { status, body: uploaded } = await ask(`${get().url}/platform/files/${name}`, {
        method: 'POST',
        headers: headers(),
        body,
      });
      assert.equal(status, 201);
      return uploaded.url as string;
    };
    const accepting = { 'Accept-Encoding': 'gzip' };
    const picture = await ask(await url('p.png', png), { headers: accepting });
    assert.deepEqual([picture.headers['content-encoding'], picture.headers['content-length']], [undefined, String(png.length)]);
    const address = await url('t.txt', text);
    const packed = await ask(address, { headers: accepting });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(packed.bytes), text);
    const etag = packed.headers.etag ?? '';
    assert.match(etag, /^W\//);
    assert.equal((await ask(address, { headers: { ...accepting, 'If-None-Match': etag } })).status, 304);
    const plain = await ask(address);
    assert.deepEqual([plain.headers['content-length'], plain.bytes], [String(text.length), text]);
    assert.equal((await ask(address, { headers: { 'If-None-Match': plain.headers.etag ?? '' } })).status, 304);
    const part = await ask(address, { headers: { ...accepting, Range: 'bytes=2-5' } });
    assert.deepEqual([part.status, part.headers['content-encoding'], part.text], [206, undefined, 'line']);
    for (const { headers } of [packed, plain, part]) assert.match(headers.vary ?? '', /accept-encoding/i);
    assert.doesNotMatch(picture.headers.vary ?? '', /accept-encoding/i);
    const small = await ask(await url('s.txt', text.subarray(0, 1_024)), { headers: accepting });
    assert.deepEqual([small.headers['content-encoding'], small.headers['content-length']], [undefined, '1024']);
    assert.match(small.headers.etag ?? '', /^"/);
  });
});
