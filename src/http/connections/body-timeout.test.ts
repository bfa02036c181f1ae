import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { answerBadRequest } from '../plugins/errors.ts';
import { BodyTimeouts, setBodyTimeout } from './body-timeout.ts';
import { Connections } from './connections.ts';

let server: Server;
let times: BodyTimeouts;
before(async () => {
  server = createServer((request, response) => {
    if (request.url === '/long') setBodyTimeout(request, 60_000);
    if (request.method === 'GET') response.end('at once');
    else if (request.url === '/later') setTimeout(() => request.resume().on('end', () => response.end('whole')), 500);
    else
      request.resume().on('end', async () => {
        await wait(request.url === '/thinks' ? 400 : 0);
        response.end('whole');
      });
  });
  server.on('clientError', answerBadRequest);
  times = new BodyTimeouts(server, new Connections(server), 150, 20);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => {
  times.close();
  server.close();
});

/** Sends a request head. @returns what has arrived so far, and whether the connection was closed */
function begin(method: string, path: string, length: number, allowHalfOpen = false) {
  const { port } = server.address() as AddressInfo;
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  let text = '';
  const state = { socket, isEnded: false, text: () => text };
  socket.on('data', (data) => (text += data));
  socket.on('end', () => (state.isEnded = true));
  socket.on('error', () => {});
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
  return state;
}
const trickle = async ({ socket }: { readonly socket: Socket }, times: number) => {
  for (let n = 0; n < times && socket.writable; n++) {
    socket.write('x');
    await wait(20);
  }
};

test('a body that trickles is cut off: 408', async () => {
  const client = begin('POST', '/', 1_000);
  await trickle(client, 20);
  assert.match(client.text(), /^HTTP\/1\.1 408 /);
  assert.equal(client.isEnded, true);
});
test('who does not leave then is disconnected', async () => {
  const connected = once(server, 'connection');
  const client = begin('POST', '/', 1_000, true);
  const [connection] = (await connected) as [Socket];
  const closed = once(connection, 'close');
  await trickle(client, 20);
  await Promise.race([closed, wait(2_000, 'it is still open').then((late) => assert.fail(late))]);
});
test('a body that nobody reads any more is cut off too', async () => {
  const client = begin('GET', '/', 1_000);
  await trickle(client, 20);
  assert.match(client.text(), /at once/);
  assert.equal(client.isEnded, true);
});
test('a route that was given more time waits', async () => {
  const client = begin('POST', '/long', 20);
  await trickle(client, 20);
  await wait(50);
  assert.match(client.text(), /whole/);
  client.socket.destroy();
});
test('the time that the answer takes does not count', async () => {
  const client = begin('POST', '/thinks', 1);
  await trickle(client, 1);
  await wait(600);
  assert.match(client.text(), /^HTTP\/1\.1 200 [\s\S]*whole/);
  client.socket.destroy();
});
test('the time in which we read nothing does not count; what the body takes after it does', async () => {
  const bytes = 1_000_000;
  const client = begin('POST', '/later', bytes);
  client.socket.write('x'.repeat(bytes));
  await wait(700);
  assert.match(client.text(), /^HTTP\/1\.1 200 [\s\S]*whole/);
  client.socket.destroy();
  const slow = begin('POST', '/later', bytes);
  slow.socket.write('x'.repeat(bytes - 1_000));
  await wait(400);
  assert.equal(slow.text(), '');
  await wait(200);
  await trickle(slow, 20);
  assert.match(slow.text(), /^HTTP\/1\.1 408 /);
});
test('a connection may be quiet between requests', async () => {
  const client = begin('POST', '/', 1);
  await trickle(client, 1);
  await wait(300);
  assert.equal(client.isEnded, false);
  client.socket.destroy();
});
