import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { ServiceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { S3Fault } from '../../s3/fault.ts';
import { watchProgress } from '../../s3/stall.ts';
import { S3Store } from './s3.ts';
import { newId, received } from './testing/cases.ts';
import { largeBytes, locationOf, storeOnS3, useKeys } from './testing/s3.ts';

const on = storeOnS3();
const small = () => received(on.store, Buffer.from('text'));

test('a request that fails in passing is made again', async () => {
  const id = newId();
  failing(2, (_, response) => response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'));
  await on.store.put('app', id, await small());
  failing(2, (request) => request.destroy());
  assert.equal((await on.store.stat('app', id))?.size, 4);
  assert.deepEqual(on.faults, []);
});

test('a store that is away or busy: unavailable, and told once until it is back', async () => {
  const id = newId();
  const file = await small();
  const stat = () => on.store.stat('app', id);
  const listed = on.store.list('app');
  const busy = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.writeHead(503, { 'Content-Type': 'text/html' }).end('<html><p>Service Unavailable');
    return true;
  };
  on.server.intercept = busy;
  const all = [stat(), on.store.open('app', id), on.store.remove('app', id), on.store.put('app', id, file), listed.next()];
  await Promise.all(all.map((asked) => assert.rejects(asked, { key: 'unavailable', status: 503 })));
  assert.equal(on.faults.length, 1);
  on.server.intercept = null;
  await stat();
  await on.server.down();
  for (let times = 0; times < 2; times++) await assert.rejects(stat(), isAway('ECONNREFUSED'));
  await on.server.up();
  await stat();
  assert.deepEqual(on.faults.slice(1), ['S3 HeadObject: ECONNREFUSED']);
  await file.discard();
});

test('an object that another process has stored stays', async () => {
  const refused = (request: IncomingMessage, response: ServerResponse) => {
    assert.equal(request.headers['if-none-match'], '*');
    return response.writeHead(412).end('<Error><Code>PreconditionFailed</Code></Error>');
  };
  failing(1, refused);
  const file = await small();
  await assert.rejects(on.store.put('app', newId(), file), { code: 'EEXIST' });
  // The previous attempt stored the object, but its response was lost.
  let asked = 0;
  failing(2, (request, response) => (asked++ === 0 ? request.destroy() : refused(request, response)));
  await on.store.put('app', newId(), file);
  assert.deepEqual(on.faults, []);
});

test('a store that knows no such condition is asked without it', async () => {
  const conditions: unknown[] = [];
  on.server.intercept = (request, response) => {
    conditions.push(request.headers['if-none-match']);
    if (conditions.length > 1) return false;
    response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
    return true;
  };
  const id = newId();
  await on.store.put('app', id, await small());
  assert.equal((await on.store.stat('app', id))?.size, 4);
  assert.deepEqual(conditions.slice(0, 2), ['*', undefined]);
});

test('one that the store refuses is not', async () => {
  failing(3, (_, response) => response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'));
  const file = await small();
  await assert.rejects(on.store.put('app', newId(), file), { code: 'AccessDenied', status: 403 });
  assert.equal(on.server.requests.length, 1);
  assert.deepEqual(on.faults, []);
  await file.discard();
});

test('the store goes in the middle of a put: a fault, no half file, the received one is kept', async () => {
  const id = newId();
  const bytes = largeBytes();
  const file = await received(on.store, bytes);
  failing(3, (request) => request.once('data', () => request.destroy()));
  await assert.rejects(on.store.put('app', id, file), { key: 'unavailable' });
  assert.equal(await on.store.stat('app', id), null);
  assert.equal((await stat(file.path)).size, bytes.length);
  await on.store.put('app', id, file);
  assert.equal((await on.store.stat('app', id))?.size, bytes.length);
});

test('a received file that is not there is a fault at once', async () => {
  const file = await small();
  await rm(file.path);
  await assert.rejects(on.store.put('app', newId(), file), { code: 'ENOENT' });
});

test('the store goes in the middle of a read: the stream fails, and later reads work', async () => {
  const id = newId();
  const bytes = largeBytes();
  await on.store.put('app', id, await received(on.store, bytes));
  const stream = await on.store.open('app', id);
  assert.ok(stream);
  await on.server.down();
  await assert.rejects(buffer(stream));
  await assert.rejects(on.store.open('app', id), isAway('ECONNREFUSED'));
  await on.server.up();
  assert.equal((await on.store.stat('app', id))?.size, bytes.length);
});

test('what cannot be removed is a fault', async () => {
  await on.store.put('kept', newId(), await small());
  on.server.intercept = (request, response) => {
    if (request.method !== 'POST') return false;
    response.end('<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code><Message>m</Message></Error></DeleteResult>');
    return true;
  };
  await assert.rejects(on.store.removeSystem('kept'), { name: 'S3Fault', code: 'AccessDenied' });
});

test('a fault tells neither the key of the object nor those of the store', async () => {
  const id = newId();
  const told = `<Error><Code>AccessDenied</Code><Message>no GetObject on ${id}</Message><Key>${id}</Key></Error>`;
  failing(1, (_, response) => response.writeHead(403).end(told));
  await assert.rejects(on.store.open('app', id), (error) => {
    assert.ok(error instanceof S3Fault);
    assert.equal(error.message, 'S3 GetObject: AccessDenied (403)');
    assert.doesNotMatch(JSON.stringify({ ...error, stack: error.stack }), new RegExp(id));
    return true;
  });
});

test('what stalls is logged once, what waits for its reader is not', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  let progress: number | null = 0;
  const stalled: string[] = [];
  const end = watchProgress(
    () => progress,
    (error) => stalled.push(error.message),
  );
  for (progress of [1, 2, 3, null, null, null, 3]) context.mock.timers.tick(30_000);
  assert.deepEqual(stalled, []);
  context.mock.timers.tick(90_000);
  assert.deepEqual(stalled, ['S3 nothing went on for 30 seconds: ETIMEDOUT']);
  end();
});

test('a bucket that is not there stops the start', () =>
  refuses(on.server.filesUrl('').replace('s3://files', 's3://nothing'), /^FILES_URL: there is no bucket nothing at http:\S+$/));

test('a store that does not answer stops the start', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await refuses(`s3://files/?endpoint=http://127.0.0.1:${port}`, /^FILES_URL: http:\S+ cannot be reached \(ECONNREFUSED\)$/);
});

for (const [name, env, code] of [
  ['an unknown key', { AWS_ACCESS_KEY_ID: 'UNKNOWN' }, 'InvalidAccessKeyId'],
  ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'top-secret' }, 'SignatureDoesNotMatch'],
] as const)
  test(`${name} stops the start, and is not shown`, async () => {
    useKeys({ ...on.server.env, ...env });
    try {
      const line = new RegExp(`^FILES_URL: http:\\S+ refuses bucket files to these AWS keys \\(${code}\\)$`);
      await refuses(on.server.filesUrl(''), line);
    } finally {
      useKeys(on.server.env);
    }
  });

async function refuses(filesUrl: string, line: RegExp): Promise<void> {
  await assert.rejects(S3Store.open(locationOf(filesUrl), on.incoming, assert.fail), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, line);
    return true;
  });
}

/** Checks for the error of an unavailable store, and its cause. */
const isAway = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ServiceError && error.key === 'unavailable', String(error));
  assert.ok(error.cause instanceof S3Fault);
  assert.equal(error.cause.code, code);
  return true;
};

/** Makes the next requests fail. */
function failing(times: number, how: (request: IncomingMessage, response: ServerResponse) => unknown): void {
  let left = times;
  on.server.intercept = (request, response) => {
    if (left-- <= 0) return false;
    how(request, response);
    return true;
  };
}
