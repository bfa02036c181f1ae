import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
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
  assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('content-disposition')], [null, null]);
  world.bytes = failing(Buffer.from('01'));
  await assert.rejects(async () => (await world.get()).text());
  await world.idle();
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
});
