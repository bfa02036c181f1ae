/** Answers that their clients do not read: their memory is bounded together (adr/0017). */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

let service: ServiceProcess;
before(async () => {
  service = await startServiceProcess({ env: { TRUST_PROXY: 'on' } });
});
after(() => service.stop());

const item = '{"method":"GET","path":"/platform/roles"}';
/** A batch whose answer has 16 MB. */
const body = `{"requests":[${Array(250_000).fill(item).join(',')}]}`;

/** Sends a batch and reads nothing. */
function askUnread(address: string): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => {});
  const head = [
    'POST /platform/batch HTTP/1.1',
    'Host: localhost',
    `X-Platform-Application-Id: ${service.appId}`,
    `X-Forwarded-For: ${address}`,
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

/** Reads the answer. @returns whether it was cut off */
async function isCut(socket: Socket): Promise<boolean> {
  let length = 0;
  let isWhole = false;
  await new Promise<void>((resolve) => {
    socket.on('data', (piece) => {
      length += piece.length;
      isWhole ||= piece.subarray(-2).toString() === '}]';
      if (isWhole) resolve();
    });
    socket.once('close', () => resolve()).resume();
  });
  socket.destroy();
  return !isWhole && length > 0;
}

test('answers that no client reads are bounded together; a client that reads gets its answer whole', {
  timeout: 180_000,
}, async () => {
  const unread: Socket[] = [];
  for (let n = 0; n < 19; n++) {
    unread.push(askUnread(`203.0.113.${n}`));
    await wait(100);
    await service.call('GET', '/platform/roles', { query: { limit: 0 } });
  }
  const answer = await fetch(`${service.url}/platform/batch`, {
    method: 'POST',
    headers: { 'x-platform-application-id': service.appId, 'x-forwarded-for': '203.0.113.200' },
    body,
  });
  assert.equal(((await answer.json()) as unknown[]).length, 250_000);
  const cut: boolean[] = [];
  for (const socket of unread) cut.push(await isCut(socket));
  const count = cut.filter(Boolean).length;
  assert.ok(count > 0 && count < 10, `${count} of ${unread.length} were closed`);
});
