import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { fastify } from 'fastify';
import { MAX_COMPRESSORS, registerCompression } from './compression.ts';

const server = fastify({ trustProxy: true });
let rest = Promise.withResolvers<void>();
let letGo = 0;

before(async () => {
  await registerCompression(server);
  server.get('/slow', (_request, reply) => {
    reply.type('application/json').send(Readable.from(slowly()));
  });
  server.get('/broken', (_request, reply) => {
    reply.type('application/json').send(Readable.from(broken()));
  });
  server.get('/events', (_request, reply) => {
    reply.type('text/event-stream').send(Readable.from(['x'.repeat(5_000)]));
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
});
after(() => server.close());

/** Produces the second piece only when the first was read. */
async function* slowly() {
  try {
    yield '{"first":1,';
    await rest.promise;
    yield '"second":2}';
  } finally {
    letGo++;
  }
}

/** Fails after some of it was sent. */
async function* broken() {
  yield `{"results":[{"text":"${'x'.repeat(20_000)}"}`;
  await rest.promise;
  throw new Error('broken');
}

const ask = (path: string, encoding: string, method = 'GET', address = '203.0.113.1') => {
  const { port } = server.server.address() as AddressInfo;
  return request({ port, path, method, headers: { 'Accept-Encoding': encoding, 'X-Forwarded-For': address } }).end();
};

for (const [encoding, decoder] of [
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
] as const)
  test(`${encoding}: a piece of a stream can be read before the next one is made`, async () => {
    rest = Promise.withResolvers();
    const text = await new Promise<string>((resolve, reject) => {
      ask('/slow', encoding).once('response', (answer) => {
        assert.equal(answer.headers['content-encoding'], encoding);
        let read = '';
        const decoded = answer.pipe(decoder()).setEncoding('utf8');
        decoded.on('data', (piece: string) => {
          read += piece;
          if (read.includes('first')) rest.resolve();
        });
        decoded.once('end', () => resolve(read)).once('error', reject);
      });
    });
    assert.deepEqual(JSON.parse(text), { first: 1, second: 2 });
  });

for (const encoding of ['identity', 'gzip', 'br', 'zstd'])
  test(`${encoding}: a stream that fails half-way cuts the connection`, async () => {
    rest = Promise.withResolvers();
    const end = await new Promise<string>((resolve, reject) => {
      ask('/broken', encoding)
        .once('error', reject)
        .once('response', (answer) => {
          assert.equal(answer.statusCode, 200);
          assert.equal(answer.headers['content-encoding'] ?? 'identity', encoding);
          answer.once('data', () => rest.resolve());
          answer.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
          answer.once('end', () => resolve('end'));
        });
    });
    assert.equal(end, 'ECONNRESET');
  });

test('answers beyond those that are compressed at once go out as they are, until others have ended', async () => {
  rest = Promise.withResolvers();
  const answerOf = (path: string, address?: string) =>
    new Promise<IncomingMessage>((resolve, reject) =>
      ask(path, 'br', 'GET', address).once('response', resolve).once('error', reject),
    );
  const encodingOf = ({ headers }: IncomingMessage) => headers['content-encoding'];
  const half = (address: string) => Promise.all(Array.from({ length: MAX_COMPRESSORS / 2 }, () => answerOf('/slow', address)));
  const stalled = await half('203.0.113.2');
  const ofTheSame = await answerOf('/slow', '203.0.113.2');
  assert.equal(encodingOf(ofTheSame), undefined, 'one network has half of them');
  stalled.push(...(await half('203.0.113.3')));
  assert.deepEqual(new Set(stalled.map(encodingOf)), new Set(['br']));
  const further = await answerOf('/slow');
  assert.equal(encodingOf(further), undefined);
  rest.resolve();
  for (const plain of [ofTheSame, further]) assert.deepEqual(JSON.parse(await textOf(plain)), { first: 1, second: 2 });
  for (const answer of stalled) answer.destroy();
  for (const deadline = Date.now() + 5_000; ; ) {
    const answer = await answerOf('/slow');
    answer.resume();
    if (encodingOf(answer) === 'br') break;
    assert.ok(Date.now() < deadline, 'no room again');
  }
});

test('event streams go out as they are', async () => {
  const headers = await new Promise<Record<string, unknown>>((resolve) => {
    ask('/events', 'gzip').once('response', (answer) => {
      answer.resume();
      resolve(answer.headers);
    });
  });
  assert.equal(headers['content-encoding'], undefined);
});

test('a HEAD lets go of a stream without reading it', async () => {
  rest = Promise.withResolvers();
  const before = letGo;
  const status = await new Promise((resolve) => {
    ask('/slow', 'gzip', 'HEAD').once('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
  });
  assert.equal(status, 200);
  // A generator that was never started has nothing to release; a started one would wait here for ever.
  assert.equal(letGo, before);
});
