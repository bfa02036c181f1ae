import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { followExchanges, incompleteRequest, isAnswering, isBusy } from './connections.ts';

let server: Server;
before(async () => {
  server = createServer();
  followExchanges(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a text. @returns both ends of the connection, and the first request with its response */
async function send(text: string) {
  const arrived = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
  client.write(text);
  const [request, response] = await arrived;
  return { client, connection: request.socket as Socket, request, response };
}
const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

test('a connection is busy until its answer has ended', async () => {
  const { client, connection, response } = await send(get);
  assert.deepEqual([isBusy(connection), isAnswering(connection)], [true, false]);
  response.write('begun');
  assert.deepEqual([isBusy(connection), isAnswering(connection)], [true, true]);
  response.end();
  await once(response, 'close');
  assert.deepEqual([isBusy(connection), isAnswering(connection), incompleteRequest(connection)], [false, false, undefined]);
  client.destroy();
});

test('requests that were sent ahead keep it busy; the answer that counts is the first one', async () => {
  const ahead: ServerResponse[] = [];
  const listen = (_request: IncomingMessage, response: ServerResponse) => ahead.push(response);
  server.on('request', listen);
  const { client, connection } = await send(get + get);
  await wait(20);
  server.off('request', listen);
  const [first, second] = ahead as [ServerResponse, ServerResponse];
  second.write('begun');
  assert.equal(isAnswering(connection), false);
  first.end();
  await once(first, 'close');
  assert.deepEqual([isBusy(connection), isAnswering(connection)], [true, true]);
  second.end();
  await once(second, 'close');
  assert.equal(isBusy(connection), false);
  client.destroy();
});

test('a request arrives until its body is whole, whether it was answered or not', async () => {
  const { client, connection, request, response } = await send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n');
  response.end();
  await once(response, 'close');
  assert.deepEqual([isBusy(connection), incompleteRequest(connection) === request], [false, true]);
  client.write('{}');
  await wait(20);
  assert.equal(incompleteRequest(connection), undefined);
  client.destroy();
});
