import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { serializePipelined } from './connections.ts';

let server: Server;
let inHand = 0;
let mostInHand = 0;
let turns = 0;
const turnOf: number[] = [];
before(async () => {
  server = createServer(async (request, response) => {
    turnOf.push(turns);
    mostInHand = Math.max(mostInHand, ++inHand);
    response.once('close', () => inHand--);
    let body = '';
    for await (const piece of request) body += piece;
    if (request.url === '/never') return;
    const answer = `<${request.url} ${body}>`;
    response.setHeader('content-length', answer.length);
    response.end(answer);
  });
  serializePipelined(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  mostInHand = 0;
  turnOf.length = 0;
});

function open(): { readonly socket: Socket; text: string } {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const state = { socket, text: '' };
  socket.on('error', () => {});
  socket.on('data', (data) => {
    state.text += data;
  });
  return state;
}
const message = (path: string, body = '') => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const last = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`);

test('requests that are sent ahead are answered one at a time, in their order, whole', async () => {
  const client = open();
  const paths = numbers(99);
  const bodyOf = (path: string) => path.repeat(path === '/50' ? 50_000 : 1);
  client.socket.write(paths.map((path) => message(path, bodyOf(path))).join('') + last('/last'));
  await once(client.socket, 'close');
  const answers = [...paths.map((path) => `<${path} ${bodyOf(path)}>`), '</last >'];
  assert.ok(client.text.match(/<[^>]*>/g)?.every((answer, n) => answer === answers[n]));
  assert.match(client.text, /<\/last >$/);
  assert.equal(mostInHand, 1);
});

test('each of them has a turn of the event loop of its own', async () => {
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const client = open();
  client.socket.write(
    numbers(19)
      .map((path) => message(path))
      .join('') + last('/19'),
  );
  await once(client.socket, 'close');
  isOver = true;
  assert.equal(new Set(turnOf).size, 20);
});

for (const [what, count, longer, body] of [
  ['too many', 150, '', ''],
  ['too long heads', 40, 'x'.repeat(8_000), ''],
  ['too long bodies', 40, '', 'x'.repeat(10_000)],
] as const)
  test(`a connection that sends ${what} ahead is closed; others are not`, async () => {
    const other = open();
    const flood = open();
    flood.socket.write(
      message('/never') +
        numbers(count)
          .map((path) => message(path + longer, body))
          .join(''),
    );
    await new Promise((resolve) => flood.socket.once('close', resolve));
    assert.equal(turnOf.length, 1);
    other.socket.write(last('/here'));
    await once(other.socket, 'close');
    assert.match(other.text, /<\/here >/);
  });

test('who leaves has nothing of what they sent ahead done', async () => {
  const client = open();
  client.socket.write(message('/never') + message('/1'));
  await once(server, 'request');
  client.socket.destroy();
  const other = open();
  other.socket.write(last('/here'));
  await once(other.socket, 'close');
  assert.equal(turnOf.length, 2);
});
