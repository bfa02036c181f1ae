import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { id, named, World } from './testing/world.ts';

const world = new World();
before(() => world.start());
after(() => world.close());
beforeEach(() => world.reset());

for (const [what, headers, body, saidType] of [
  ['text', { 'Content-Type': 'text/plain' }, 'hello', 'text/plain'],
  ['JSON', { 'Content-Type': 'application/json; charset=utf-8' }, ' {"a": 1}', 'application/json; charset=utf-8'],
  ['what only begins as JSON', { 'Content-Type': 'text/plain' }, '{"base64": ', 'text/plain'],
  ['a type that is none', { 'Content-Type': 'nonsense' }, 'hello', undefined],
] as const)
  test(`a raw upload keeps its bytes: ${what}`, async () => {
    const answer = await world.post(body, { ...named, ...headers }, encodeURIComponent('a/ש.txt'));
    assert.deepEqual([answer.status, answer.headers.get('location')], [201, `http://base/${id}_a`]);
    assert.deepEqual(world.stored, { fileName: 'a/ש.txt', saidType, text: body });
    await world.idle();
  });
test('an upload is never told that it took too long', async () => {
  const answer = await world.post('late', { ...named, 'Content-Type': 'text/plain' });
  const { code, error } = (await answer.json()) as { code: number; error: string };
  assert.deepEqual([answer.status, code, error], [503, 1, 'server error: the service is not available now']);
  await world.idle();
});
test('a JSON upload, with and without the header', async () => {
  const body = JSON.stringify({ base64: 'aGVsbG8=', _ContentType: 'text/csv', _ApplicationId: 'app' });
  for (const headers of [{ 'Content-Type': 'text/plain' }, { ...named, 'Content-Type': 'text/plain' }] as Record<
    string,
    string
  >[]) {
    assert.equal((await world.post(body, headers)).status, 201);
    assert.deepEqual(world.stored, { fileName: 'a.txt', saidType: 'text/csv', text: 'hello' });
  }
  await world.idle();
});
test('a long JSON upload', async () => {
  const content = 'long text '.repeat(500_000);
  const base64 = Buffer.from(content).toString('base64');
  const body = JSON.stringify({ _ContentType: 'text/csv', base64, _ApplicationId: 'app' });
  assert.equal((await world.post(body, {})).status, 201);
  assert.deepEqual([world.stored?.saidType, world.stored?.text === content], ['text/csv', true]);
  assert.equal((await world.post(body.replace('long', '\\"long').replace('=', '!'), {})).status, 400);
  const wrong = JSON.stringify({ base64: Buffer.from(`bad${'x'.repeat(33_554_430)}`).toString('base64'), _ApplicationId: 'app' });
  assert.equal((await world.post(wrong, {})).status, 413);
  await world.idle();
});
test('JSON that is long beside its base64: a file where a header names the application, else 107', async () => {
  const base64 = 'QUJD'.repeat(100_000);
  for (const sent of [
    { base64: 'QQ==', a: Array.from({ length: 200_000 }, () => 1) },
    { fileData: { base64 } },
    { base64, fileData: base64 },
  ]) {
    const body = JSON.stringify({ ...sent, _ApplicationId: 'app' });
    const answer = await world.post(body, {});
    assert.deepEqual([answer.status, ((await answer.json()) as { code: number }).code], [400, 107]);
    assert.equal((await world.post(body, { ...named, 'Content-Type': 'application/json' })).status, 201);
    assert.equal(world.stored?.text, body);
  }
  await world.idle();
});

test('a `%` in a name may be itself', async () => {
  for (const name of ['100%.txt', '%', '%zz', '%4']) {
    assert.equal((await world.post('x', named, name)).status, 201);
    assert.equal(world.stored?.fileName, name);
  }
  assert.equal((await world.post('x', named, '%ff')).status, 400);
});
test('where a header names the application, the beginning of a body decides whether it is kept to be looked at', async () => {
  const type = { ...named, 'Content-Type': 'application/json' };
  const late = JSON.stringify({ fill: ' '.repeat(70_000), base64: 'aGVsbG8=' });
  assert.equal((await world.post(late, type)).status, 201);
  assert.deepEqual([world.stored?.text, world.spooled], [late, 0]);
  const early = JSON.stringify({ base64: 'aGVsbG8=', fileData: ' '.repeat(70_000) });
  assert.equal((await world.post(early, type)).status, 201);
  assert.deepEqual([world.stored?.text, world.spooled], ['hello', 1]);
  await world.idle();
});

/** Starts an upload that never ends by itself. */
function begin(headers: Record<string, string | number>, of: Record<string, string> = named): ClientRequest {
  return request(`${world.url}/platform/files/a.txt`, { method: 'POST', headers: { ...of, ...headers } });
}
for (const [what, headers, text, status] of [
  ['of a wrong type', { 'Content-Length': 1_000_000 }, 'bad', 403],
  ['that says that it is too large', { 'Content-Length': 33_554_433 }, 'x', 413],
  ['of no system', { 'X-Platform-Application-Id': 'other', 'Content-Length': 1_000_000 }, 'x', 403],
  ['of a wrong key', { 'X-Platform-Master-Key': 'x', 'Content-Length': 1_000_000 }, 'x', 400],
] as const)
  test(`an upload ${what} is answered while it is sent`, async () => {
    const sent = begin(headers);
    sent.write(text);
    const [answer] = await once(sent, 'response');
    assert.equal(answer.statusCode, status);
    if (status === 413) assert.match(answer.headers['content-type'], /^text\/html/);
    await world.idle();
    answer.resume();
    // The rest is read, and the connection can be reused.
    sent.end(Buffer.alloc(Number(headers['Content-Length']) - text.length));
    await once(answer, 'end');
  });
test('a client that goes away in its upload holds nothing', async () => {
  const sent = begin({ 'Content-Length': 1_000 });
  sent.on('error', () => {});
  sent.write('x');
  for (let n = 0; n < 100 && world.system.held === 0; n++) await wait(10);
  assert.equal(world.system.held, 1);
  sent.destroy();
  await world.idle();
});

for (const [size, status] of [
  [1_000_000, 403],
  [33_554_432, 403],
  [33_554_433, 413],
] as const)
  for (const type of ['application/pdf', 'text/plain'])
    test(`a wrong type of ${size} bytes that were not announced, sent as ${type}: ${status}`, async () => {
      const sent = begin({ 'Content-Type': type });
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      sent.write('bad');
      sent.end(Buffer.alloc(size - 3));
      const [answer] = await answered;
      assert.equal(answer.statusCode, status);
      assert.match(String(answer.headers['content-type']), status === 413 ? /^text\/html/ : /^application\/json/);
      answer.resume();
      await once(answer, 'end');
      await world.idle();
    });

const stopped = (count: number, headers: Record<string, number>) =>
  Array.from({ length: count }, () => {
    const sent = begin(headers, {});
    sent.on('error', () => {});
    sent.write('{"base64":"');
    return sent;
  });
const spooled = async (count: number) => {
  for (let n = 0; n < 200 && world.spooled < count; n++) await wait(10);
  assert.equal(world.spooled, count);
};

test('who sends the beginning of small uploads and stops keeps nobody waiting', async () => {
  const slow = stopped(60, { 'Content-Length': 1_000 });
  await spooled(60);
  assert.equal((await world.post(JSON.stringify({ base64: 'aGVsbG8=', _ApplicationId: 'app' }), {})).status, 201);
  for (const sent of slow) sent.destroy();
  await world.idle();
});
test('uploads of one address that may be of any size have a part of the room; others of it wait their turn', async () => {
  // 22 uploads of the largest size fit into the share of one address.
  const slow = stopped(30, {});
  await spooled(22);
  await wait(100);
  assert.equal(world.spooled, 22);
  assert.equal((await world.post('hello')).status, 201);
  slow[0]?.destroy();
  await spooled(23);
  for (const sent of slow) sent.destroy();
  await world.idle();
});

for (const [type, body] of [
  ['application/json', '{}'],
  ['text/plain', 'x'],
  ['application/x-www-form-urlencoded', 'key=a'],
  ['', 'x'],
] as const)
  test(`a signed form that is no form: ${type}`, async () => {
    const headers = type === '' ? undefined : { 'Content-Type': type };
    const answer = await fetch(`${world.url}/platform/files/signed-post/app`, {
      method: 'POST',
      ...(headers && { headers }),
      body: Buffer.from(body),
    });
    const { code, error } = (await answer.json()) as { code: number; error: string };
    assert.deepEqual([answer.status, code], [400, 107]);
    assert.match(error, /multipart/);
    await world.idle();
  });
