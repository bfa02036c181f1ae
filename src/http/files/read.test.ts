import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';
import { id, World } from './testing/world.ts';

const world = new World();
before(() => world.start());
after(() => world.close());
beforeEach(() => world.reset());

test('a file, all that is said of it, and what the client has already', async () => {
  const whole = await world.get();
  assert.equal(await whole.text(), '0123456789');
  const of = (name: string) => whole.headers.get(name);
  assert.deepEqual(
    [of('content-type'), of('content-length'), of('cache-control'), of('etag'), of('accept-ranges')],
    [world.contentType, '10', 'public, max-age=86400', `"${id}"`, 'bytes'],
  );
  assert.match(of('content-disposition') ?? '', /^inline; filename="a b.txt"/);
  assert.equal(of('x-content-type-options'), 'nosniff');
  for (const headers of [{ 'If-None-Match': `"${id}"` }, { 'If-Modified-Since': of('last-modified') ?? '' }] as const) {
    const again = await world.get({ ...headers });
    assert.deepEqual([again.status, await again.text()], [304, '']);
    assert.equal(again.headers.get('x-content-type-options'), 'nosniff');
  }
  await world.idle();
});
test('a range that cannot be', async () => {
  const answer = await world.get({ Range: 'bytes=50-' });
  assert.deepEqual([answer.status, answer.headers.get('content-range')], [416, 'bytes */10']);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  await world.idle();
});
test('what browsers might run is saved, in a sandbox', async () => {
  world.contentType = 'text/html; charset=utf-8';
  const { headers } = await world.get();
  assert.match(headers.get('content-disposition') ?? '', /^attachment/);
  assert.match(headers.get('content-security-policy') ?? '', /sandbox/);
});
test('no file, and bytes that are gone: 404 as text, not to be kept', async () => {
  for (const path of ['/static/app/none', '/static/other/a', '/platform/files/app/none', '/static/app/a']) {
    world.bytes = () => null;
    const answer = await world.get({}, path);
    assert.deepEqual([answer.status, await answer.text()], [404, 'File not found'], path);
    assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('content-length')], ['no-store', '14']);
  }
  await world.idle();
});
test('bytes that cannot be read: 500 before the first, a broken connection after', async () => {
  const failing = (first: Buffer | null) => () => {
    const stream = new Readable({ read() {} });
    if (first) stream.push(first);
    setTimeout(() => stream.destroy(new Error('broken')), 50);
    return stream;
  };
  world.bytes = failing(null);
  const answer = await world.get();
  assert.deepEqual([answer.status, await answer.json()], [500, { code: 1, error: 'server error' }]);
  assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('content-disposition')], ['private, no-cache', null]);
  assert.equal(world.logged.length, 1);
  world.bytes = failing(Buffer.from('01'));
  await assert.rejects(async () => (await world.get()).text());
  await world.idle();
  assert.equal(world.logged.length, 2);
});
for (const [what, pieces] of [
  ['fewer, in one piece', ['012345678']],
  ['fewer, in several', ['01', '23', '4']],
  ['more, in several', ['01234', '56789', '0']],
  ['more, in a piece that begins well', ['01234', '567890']],
] as const)
  test(`bytes that are not as many as was announced cut the connection: ${what}`, async () => {
    world.bytes = () => Readable.from(pieces.map((piece) => Buffer.from(piece)));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = request(`${world.url}/static/app/a`, { agent }).end();
    // The head may not have been sent when the connection is cut.
    first.on('error', () => {}).on('response', (answer) => answer.on('error', () => {}).resume());
    const [socket] = (await once(first, 'socket')) as [Socket];
    await once(socket, 'close');
    await world.idle();
    assert.equal(world.logged.length, 1);
    world.bytes = () => Readable.from([Buffer.from('0123456789')]);
    const second = request(`${world.url}/static/app/a`, { agent }).end();
    const [next] = (await once(second, 'response')) as [IncomingMessage];
    assert.deepEqual([next.statusCode, await text(next)], [200, '0123456789']);
    agent.destroy();
  });
test('bytes that are more from the first on, and none: 500', async () => {
  for (const bytes of ['01234567890', null]) {
    world.bytes = () => Readable.from(bytes === null ? [] : [Buffer.from(bytes)]);
    const answer = await world.get();
    assert.deepEqual([answer.status, await answer.json()], [500, { code: 1, error: 'server error' }]);
  }
  assert.equal(world.logged.length, 2);
});
test('a body that has more than credentials: 413', async () => {
  for (const path of ['/platform/files/app/a', '/platform/files/app/a/Table/id/Field'])
    for (const [size, status] of [
      [60_000, path.endsWith('a') ? 403 : 302],
      [70_000, 413],
    ] as const) {
      const body = JSON.stringify({ fill: 'x'.repeat(size) });
      const answer = await fetch(world.url + path, { method: 'POST', body, redirect: 'manual' });
      assert.equal(answer.status, status, path);
      await answer.text();
    }
});
test('the way to the gate leads back here, whatever server the request names', async () => {
  const path = '/platform/files/app/a/Table/id/Field?x=1';
  for (const target of [path, `http://elsewhere.example${path}`]) {
    const sent = request(world.url, { path: target }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    const location = new URL(String(answer.headers.location));
    assert.deepEqual([answer.statusCode, location.searchParams.get('returnTo')], [302, `http://base${path}`]);
  }
});
test('a client that goes away lets go of the file and of the system', async () => {
  const stream = Readable.from(
    (async function* () {
      for (;;) yield Buffer.alloc(65_536);
    })(),
  );
  world.bytes = () => stream;
  world.size = 1_000_000_000;
  const sent = request(`${world.url}/static/app/a`).end();
  const [answer] = await once(sent, 'response');
  await once(answer, 'data');
  assert.equal(world.system.held, 1);
  sent.destroy();
  await world.idle();
  assert.equal(stream.destroyed, true);
  assert.deepEqual(world.logged, []);
});
