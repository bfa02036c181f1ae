/** Requests as bytes on a connection: requests that no ordinary client sends, and clients that disconnect. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { create, createMany, tableName } from '../support/query.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { makeLong } from './long.ts';
import { onSampledEngine } from './sampled.ts';

interface Raw {
  status: number;
  headers: Headers;
  body: string;
}

/** Sends a request. @returns the answer: as many bytes as it announces, or all until the connection ends */
async function send(url: string, head: readonly string[], body = ''): Promise<Raw> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    const answer = parse(text);
    if (answer.body.length >= Number(answer.headers.get('content-length') ?? Number.POSITIVE_INFINITY)) break;
  }
  return parse(text);
}

function parse(text: string): Raw {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return { status: 0, headers: new Headers(), body: '' };
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((one): [string, string] => [one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1)]);
  return { status: Number(line.split(' ')[1]), headers: new Headers(headers), body: text.slice(end + 4) };
}

onSampledEngine((get, engine) => {
  const table = tableName('Wire');
  const path = `/platform/classes/${table}`;
  const origin = 'https://forms.example';
  const keys = () => [`X-Platform-Application-Id: ${get().appId}`, `X-Platform-Master-Key: ${get().masterKey}`];
  const ask = (line: string, headers: readonly string[] = [], body = '') =>
    send(get().url, [line, 'Host: example', `Origin: ${origin}`, ...keys(), ...headers], body);
  const withId = (answer: Raw) => assert.match(answer.headers.get('x-request-id') ?? '', /^[\w-]{6,}$/);
  before(async () => {
    await create(get(), table, { name: 'a#b' });
  });

  for (const where of ['{"name":"a#b"}', '%7B%22name%22:%22a#b%22%7D'])
    test(`Query parameters: an unencoded # returns 500, even if the client sends it: ${where}`, async () => {
      const answer = await ask(`GET ${path}?where=${where} HTTP/1.1`);
      assert.equal(answer.status, 500);
      assert.match(answer.body, /server error/);
    });

  test('Requests: every answer carries X-Request-Id, even if the request cannot be parsed', async () => {
    const long = 'a'.repeat(70_000);
    const answers: [status: number, answer: Raw][] = [
      [431, await ask(`GET ${path}?where=${long} HTTP/1.1`)],
      [431, await ask(`GET ${path} HTTP/1.1`, [`X-Long: ${long}`])],
      [400, await ask('NONSENSE')],
      [400, await ask(`GET ${path}/%ff HTTP/1.1`)],
      [413, await ask(`POST ${path} HTTP/1.1`, [`Content-Length: ${21 * 1024 * 1024}`])],
      [404, await ask(`PATCH ${path} HTTP/1.1`)],
      [200, await send(get().url, [`GET ${path} HTTP/1.1`, ...keys()])],
      [201, await ask(`POST ${path} HTTP/1.1`, ['Expect: nothing-known', 'Content-Length: 2'], '{}')],
    ];
    for (const [status, answer] of answers) {
      assert.equal(answer.status, status, answer.body);
      withId(answer);
    }
  });

  test('Conventions CORS: early refusals and streams carry the Origin too', async () => {
    const large = tableName('Large');
    await createMany(
      get(),
      large,
      Array.from({ length: 500 }, () => ({ s: 'x'.repeat(2_000) })),
    );
    const answers: [status: number, answer: Raw][] = [
      [400, await ask(`GET ${path}/%ff HTTP/1.1`)],
      [413, await ask(`POST ${path} HTTP/1.1`, [`Content-Length: ${21 * 1024 * 1024}`])],
      [404, await ask(`PATCH ${path} HTTP/1.1`)],
      [200, await ask(`GET /platform/classes/${large}?limit=1000 HTTP/1.1`)],
    ];
    for (const [status, answer] of answers) {
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
      withId(answer);
    }
  });

  for (const type of [
    '',
    'json',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-8',
    'a/b/c',
    'text/plain;;',
  ])
    test(`Requests: a body is read as JSON whatever its type says: "${type}"`, async () => {
      const answer = await ask(`POST ${path} HTTP/1.1`, [`Content-Type: ${type}`, 'Content-Length: 7'], '{"n":1}');
      assert.equal(answer.status, 201, answer.body);
    });
  test('Requests: a byte order mark before the JSON is passed over', async () => {
    const body = '\u{feff}{"n":1}';
    const answer = await ask(`POST ${path} HTTP/1.1`, [`Content-Length: ${Buffer.byteLength(body)}`], body);
    assert.equal(answer.status, 201, answer.body);
  });

  test('Running: clients that left in the middle of an answer do not hold the exit', async () => {
    const service = await startServiceProcess({ engine });
    const { long } = await makeLong(service);
    const { hostname, port } = new URL(service.url);
    const leave = async (pause: number) => {
      const socket = connect(Number(port), hostname).on('error', () => {});
      const head = ['Host: x', `X-Platform-Application-Id: ${service.appId}`, `X-Platform-Master-Key: ${service.masterKey}`];
      socket.write(`GET /platform/classes/${long}?limit=100000 HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
      await once(socket, 'data');
      socket.pause();
      await wait(pause);
      socket.resetAndDestroy();
    };
    await Promise.all([0, 0, 10, 20, 40, 80, 200, 500, 500, 500].map(leave));
    const since = performance.now();
    assert.equal(await service.stop(), 0);
    assert.ok(performance.now() - since < 10_000, `${performance.now() - since} ms`);
  });
});
