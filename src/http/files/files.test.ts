import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { fail } from '../../errors/fail.ts';
import type { Files, OpenFile } from '../../files/index.ts';
import { receive } from '../../files/receive.ts';
import type { Store } from '../../storage/port.ts';
import { Registration, System } from '../../systems/system.ts';
import { Users } from '../../users/index.ts';
import type { Edge } from '../edge.ts';
import { HttpServer } from '../server.ts';

/** A system that counts who holds it. */
class CountedSystem extends System {
  held = 0;
  override hold(): void {
    this.held++;
    super.hold();
  }
  override release(): void {
    this.held--;
    super.release();
  }
}

const entry = { id: '1', appId: 'app', name: 'App', createdAt: 0, masterKeyHash: '' };
const store = { schema: () => ({ version: 0, tables: new Map(), referencesTo: new Map() }) } as unknown as Store;
const system = new CountedSystem(new Registration(entry, [], 'salt'), store);
const systems = {
  acquire(appId: string) {
    if (appId !== 'app') return undefined;
    system.hold();
    return system;
  },
};

const id = '0123456789abcdef0123456789abcdef';
let bytes = () => Readable.from([Buffer.from('0123456789')]) as Readable | null;
let contentType = 'text/plain; charset=utf-8';
let size = 10;
let stored: { fileName: string; saidType: string | undefined; text: string } | undefined;
let spool = '';
const open = async (_system: unknown, name: string): Promise<OpenFile | null> => {
  if (name === 'none') return null;
  const file = { id, name: `${id}_${name}`, size, contentType, isPublic: true, isPrivate: false, createdAt: 0, updatedAt: 0 };
  return { file, read: async () => bytes() };
};
const files: Partial<Files> = {
  async admit() {},
  spool: (sent, most) => receive(sent, spool, most, () => {}),
  async upload(_system, fileName, saidType, sent) {
    let text = '';
    for await (const piece of sent) {
      text += piece;
      if (text.startsWith('bad')) fail('invalidFileType');
      if (text.length > 20_000_000) fail('fileTooLarge');
    }
    stored = { fileName, saidType, text };
    return { name: `${id}_a`, url: `http://base/${id}_a` };
  },
  openPublic: open,
  openUpload: open,
};
const edge = {
  systems,
  users: new Users(1),
  resets: {},
  files,
  hooks: { observers: [], rules: new Map(), files: {} },
  log: pino({ level: 'silent' }),
  trustProxy: false,
  baseUrl: () => 'http://base',
} as unknown as Edge;

let http: HttpServer;
let url: string;
before(async () => {
  spool = await mkdtemp(join(tmpdir(), 'rds-spool-'));
  http = await HttpServer.create(edge, { host: '127.0.0.1', port: 0, trustProxy: false, queryTimeout: 1_000 });
  url = await http.listen();
});
after(async () => {
  await http.close(1_000);
  assert.deepEqual(await readdir(spool), []);
  await rm(spool, { recursive: true });
});
beforeEach(() => {
  stored = undefined;
  size = 10;
  contentType = 'text/plain; charset=utf-8';
  bytes = () => Readable.from([Buffer.from('0123456789')]);
});

const named = { 'X-Platform-Application-Id': 'app' };
const post = (body: string, headers: Record<string, string> = named, name = 'a.txt') =>
  fetch(`${url}/platform/files/${name}`, { method: 'POST', headers, body });
const idle = async () => {
  for (let n = 0; n < 200 && system.held > 0; n++) await wait(10);
  assert.equal(system.held, 0);
};

for (const [what, headers, body, saidType] of [
  ['text', { 'Content-Type': 'text/plain' }, 'hello', 'text/plain'],
  ['JSON', { 'Content-Type': 'application/json; charset=utf-8' }, ' {"a": 1}', 'application/json; charset=utf-8'],
  ['what only begins as JSON', { 'Content-Type': 'text/plain' }, '{"base64": ', 'text/plain'],
  ['a type that is none', { 'Content-Type': 'nonsense' }, 'hello', undefined],
] as const)
  test(`a raw upload keeps its bytes: ${what}`, async () => {
    const answer = await post(body, { ...named, ...headers }, encodeURIComponent('a/ש.txt'));
    assert.deepEqual([answer.status, answer.headers.get('location')], [201, `http://base/${id}_a`]);
    assert.deepEqual(stored, { fileName: 'a/ש.txt', saidType, text: body });
    await idle();
  });
test('a JSON upload, with and without the header', async () => {
  const body = JSON.stringify({ base64: 'aGVsbG8=', _ContentType: 'text/csv', _ApplicationId: 'app' });
  for (const headers of [{ 'Content-Type': 'text/plain' }, { ...named, 'Content-Type': 'text/plain' }] as Record<
    string,
    string
  >[]) {
    assert.equal((await post(body, headers)).status, 201);
    assert.deepEqual(stored, { fileName: 'a.txt', saidType: 'text/csv', text: 'hello' });
  }
  await idle();
});

/** Begins an upload that never ends by itself. */
function begin(headers: Record<string, string | number>): ClientRequest {
  return request(`${url}/platform/files/a.txt`, { method: 'POST', headers: { ...named, ...headers } });
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
    await idle();
    answer.resume();
    // The rest is taken, and the connection is good for more.
    sent.end(Buffer.alloc(Number(headers['Content-Length']) - text.length));
    await once(answer, 'end');
  });
test('a client that goes away in its upload holds nothing', async () => {
  const sent = begin({ 'Content-Length': 1_000 });
  sent.on('error', () => {});
  sent.write('x');
  for (let n = 0; n < 100 && system.held === 0; n++) await wait(10);
  assert.equal(system.held, 1);
  sent.destroy();
  await idle();
});

const get = (headers: Record<string, string> = {}, path = '/static/app/a%20b.txt') => fetch(url + path, { headers });
test('a file, all that is said of it, and what the client has already', async () => {
  const whole = await get();
  assert.equal(await whole.text(), '0123456789');
  const of = (name: string) => whole.headers.get(name);
  assert.deepEqual(
    [of('content-type'), of('content-length'), of('cache-control'), of('etag'), of('accept-ranges')],
    [contentType, '10', 'public, max-age=86400', `"${id}"`, 'bytes'],
  );
  assert.match(of('content-disposition') ?? '', /^inline; filename="a b.txt"/);
  assert.equal(of('x-content-type-options'), 'nosniff');
  for (const headers of [{ 'If-None-Match': `"${id}"` }, { 'If-Modified-Since': of('last-modified') ?? '' }] as const) {
    const again = await get({ ...headers });
    assert.deepEqual([again.status, await again.text()], [304, '']);
  }
  await idle();
});
test('what browsers might run is saved, in a sandbox', async () => {
  contentType = 'text/html; charset=utf-8';
  const { headers } = await get();
  assert.match(headers.get('content-disposition') ?? '', /^attachment/);
  assert.match(headers.get('content-security-policy') ?? '', /sandbox/);
});
test('no file, and bytes that are gone: 404 as text, not to be kept', async () => {
  for (const path of ['/static/app/none', '/static/other/a', '/platform/files/app/none', '/static/app/a']) {
    bytes = () => null;
    const answer = await get({}, path);
    assert.deepEqual([answer.status, await answer.text()], [404, 'File not found'], path);
    assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('content-length')], ['no-store', '14']);
  }
  await idle();
});
test('bytes that cannot be read: 500 before the first, a broken connection after', async () => {
  const failing = (first: Buffer | null) => () => {
    const stream = new Readable({ read() {} });
    if (first) stream.push(first);
    setTimeout(() => stream.destroy(new Error('broken')), 50);
    return stream;
  };
  bytes = failing(null);
  const answer = await get();
  assert.deepEqual([answer.status, await answer.json()], [500, { code: 1, error: 'server error' }]);
  assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('content-disposition')], [null, null]);
  bytes = failing(Buffer.from('01'));
  await assert.rejects(async () => (await get()).text());
  await idle();
});
test('a client that goes away lets go of the file and of the system', async () => {
  const stream = Readable.from(
    (async function* () {
      for (;;) yield Buffer.alloc(65_536);
    })(),
  );
  bytes = () => stream;
  size = 1_000_000_000;
  const sent = request(`${url}/static/app/a`).end();
  const [answer] = await once(sent, 'response');
  await once(answer, 'data');
  assert.equal(system.held, 1);
  sent.destroy();
  await idle();
  assert.equal(stream.destroyed, true);
});
