import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Sender } from '../../admission/reservation.ts';
import { createBodyPools, MAX_LONG_BODY_BYTES, MAX_SHORT_BODY_BYTES, readBody } from './body.ts';
import { failureOf } from './messages.ts';

let server: Server;
/** Ends the pending authentication of each call. */
const thinkers: (() => void)[] = [];
before(async () => {
  const pools = createBodyPools(100);
  server = createServer(async (payload, response) => {
    const [, system = '', caller = ''] = (payload.url ?? '').split('/');
    const longSender = async (): Promise<Sender | null> => {
      if (system === 'failing') throw new Error('no disk');
      return system === '' ? null : { system, caller: `${system} ${caller}` };
    };
    try {
      const sender = () => ({ system, caller: `${system} ${caller}` });
      const text = await readBody({ payload, response, pools, sender, longSender });
      if (caller === 'thinks') await new Promise<void>((resolve) => thinkers.push(resolve));
      response.end(`${text.length} ${text.slice(-3)}`);
    } catch (error) {
      const { status, message, headers = {} } = failureOf(error);
      response.writeHead(status, { ...headers, 'content-length': message.length }).end(message);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a head and a part of a body, and collects the answer. */
function begin(path: string, length: number, body: string) {
  const { port } = server.address() as AddressInfo;
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  const state = { socket, text: '', isEnded: false };
  socket.on('data', (data) => {
    state.text += data;
  });
  socket.on('end', () => {
    state.isEnded = true;
  });
  socket.on('error', () => {});
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`);
  return state;
}
/** Waits for a result; `undefined` or `false` if it does not come. */
async function until<T>(look: () => T): Promise<T> {
  for (let n = 0; n < 250 && !look(); n++) await wait(20);
  return look();
}
async function answer(state: { readonly text: string }): Promise<string> {
  await until(() => /\r\n\r\n./.test(state.text));
  return state.text.replace(/\r\n[\s\S]*\r\n/, ' ');
}
const whole = (path: string, size: number) => begin(path, size, 'x'.repeat(size));
const LONG = MAX_SHORT_BODY_BYTES + 1;

test('a body comes whole, in whatever pieces and of whatever length', async () => {
  const body = `\ufeff${'שלום\u{1F642}'.repeat(10)}end`;
  const bytes = Buffer.from(body);
  const client = begin('/', bytes.length, '');
  for (const byte of bytes) {
    client.socket.write(Buffer.from([byte]));
    if (byte % 8 === 0) await wait(1);
  }
  assert.equal(await answer(client), `HTTP/1.1 200 OK ${body.length - 1} end`);
  assert.equal(await answer(whole('/a/x', MAX_LONG_BODY_BYTES)), `HTTP/1.1 200 OK ${MAX_LONG_BODY_BYTES} xxx`);
  assert.equal(await answer(whole('/', MAX_SHORT_BODY_BYTES)), `HTTP/1.1 200 OK ${MAX_SHORT_BODY_BYTES} xxx`);
});

test('a body that is too long is 413, read to its end', async () => {
  for (const [path, size] of [
    ['/', LONG],
    ['/', 5 * MAX_SHORT_BODY_BYTES],
    ['/a/x', MAX_LONG_BODY_BYTES + 1],
  ] as const) {
    const client = whole(path, size);
    assert.equal(await answer(client), 'HTTP/1.1 413 Payload Too Large Request body is too large.');
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await wait(50);
    assert.match(client.text, /HTTP\/1\.1 200 OK/);
  }
});

test('a fault while a place is asked for is answered', async () => {
  assert.equal(await answer(whole('/failing/x', LONG)), 'HTTP/1.1 500 Internal Server Error server error');
});

test('senders who stop do not keep others waiting: 408, and the connection is closed', async (t) => {
  const stopped = ['/a/x', '/a/y', '/a/z', '/b/x'].map((path) => begin(path, MAX_LONG_BODY_BYTES, 'x'.repeat(LONG)));
  t.after(() => {
    for (const { socket } of stopped) socket.destroy();
  });
  await wait(300);
  assert.ok(
    stopped.every(({ text }) => text === ''),
    'nobody waits yet',
  );
  assert.equal(await answer(whole('/c/x', 3 * MAX_SHORT_BODY_BYTES)), `HTTP/1.1 200 OK ${3 * MAX_SHORT_BODY_BYTES} xxx`);
  // At least one has freed memory; data of the others may still be in transit.
  const slow = await until(() => stopped.find(({ text }) => text !== ''));
  assert.ok(slow);
  assert.equal(await answer(slow), 'HTTP/1.1 408 Request Timeout The body came too slowly while others waited.');
  assert.match(slow.text, /connection: close/i);
  assert.ok(await until(() => slow.isEnded));
});

test('one caller leaves places to others, however long their calls take', async () => {
  const thinking = [whole('/a/thinks', LONG), whole('/a/thinks', LONG)];
  assert.ok(await until(() => thinkers.length === 2));
  thinking.push(whole('/a/thinks', LONG));
  assert.equal(await answer(whole('/a/x', LONG)), `HTTP/1.1 200 OK ${LONG} xxx`);
  assert.equal(await answer(whole('/b/x', LONG)), `HTTP/1.1 200 OK ${LONG} xxx`);
  assert.ok(thinking.every(({ text }) => text === ''));
  // A client that disconnects frees its slot for the one that waits.
  thinking[0]?.socket.destroy();
  assert.ok(await until(() => thinkers.length === 3));
  for (const finish of thinkers) finish();
  for (const state of thinking.slice(1)) assert.equal(await answer(state), `HTTP/1.1 200 OK ${LONG} xxx`);
});

test('short bodies share a room too: one sender leaves some to others, however long their calls take', async () => {
  thinkers.length = 0;
  const thinking = Array.from({ length: 33 }, () => whole('/d/thinks', MAX_SHORT_BODY_BYTES));
  assert.ok(await until(() => thinkers.length === 32));
  // Head and body in one packet: its end arrives before its reservation.
  const waiting = whole('/d/thinks', 20_000);
  assert.equal(await answer(whole('/e/x', 20_000)), 'HTTP/1.1 200 OK 20000 xxx');
  assert.equal(waiting.text, '');
  assert.equal(await answer(whole('/d/x', MAX_SHORT_BODY_BYTES)), `HTTP/1.1 200 OK ${MAX_SHORT_BODY_BYTES} xxx`);
  assert.equal(await answer(whole('/e/x', MAX_SHORT_BODY_BYTES)), `HTTP/1.1 200 OK ${MAX_SHORT_BODY_BYTES} xxx`);
  // A usual call needs no reservation.
  thinking.push(whole('/d/thinks', 100));
  assert.ok(await until(() => thinkers.length === 33));
  for (const finish of thinkers.splice(0)) finish();
  assert.ok(await until(() => thinkers.length === 2));
  for (const finish of thinkers) finish();
  assert.equal(await answer(waiting), 'HTTP/1.1 200 OK 20000 xxx');
  for (const state of thinking) assert.match(await answer(state), /^HTTP\/1\.1 200 OK (?:100|1048576) xxx$/);
});
