/** Exports whose clients do not read: their number is bounded, and they are ended when others wait (docs/adr/0017-admission.md). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { createMany, defineTable, onEachEngine, tableName } from '../../support/query.ts';
import { soon } from '../../support/soon.ts';
import { addressOf, cellsOf, exported, headersOf } from './exporting.ts';

const MIB = 1024 * 1024;
/** Maximum of concurrent exports of one address; fewer if the heap is small. */
const MAX_EXPORTS = Math.floor(Math.max(96 * MIB, Math.min(256 * MIB, getHeapStatistics().heap_size_limit / 4)) / 2 / (2 * MIB));
const STALLED = 80;
const RECORDS = 1_200;

onEachEngine((get) => {
  const table = tableName('Stalled');
  const sockets: Socket[] = [];
  before(async () => {
    await defineTable(get(), table, { n: 'Number', s: 'String' });
    // Together more than the buffers between the service and a client.
    await createMany(
      get(),
      table,
      Array.from({ length: RECORDS }, (_, n) => ({ n, s: 'x'.repeat(12_000) })),
    );
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
  });

  test('Export: clients that read nothing lose their exports when others wait', async () => {
    const before = get().output().length;
    const { hostname, port, pathname, host } = addressOf(get(), table);
    const headers = { ...headersOf(get()), host, connection: 'close' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    for (let n = 0; n < STALLED; n++) {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'connect');
      // Without a listener for data, nothing is read.
      socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
    }
    await soon(async () => assert.ok(sockets.filter(({ bytesRead }) => bytesRead > 0).length >= MAX_EXPORTS), 60_000);
    const { text } = await exported(get(), table, { keys: 'n' });
    assert.equal(cellsOf(text).length, RECORDS + 1);
    let cutOff: string | undefined;
    for (const socket of sockets)
      if (cutOff === undefined) {
        const end = await endOf(socket);
        if (!end.endsWith('\r\n0\r\n\r\n')) cutOff = end;
      } else assert.doesNotMatch(await beginOf(socket), /^HTTP\/1.1 5/);
    assert.doesNotMatch(cutOff ?? assert.fail('none was broken off'), /^HTTP\/1.1 5/);
    assert.doesNotMatch(get().output().slice(before), /broke off|fault/);
  });
});

/** Reads a connection until it is closed. @returns the last 1,000 characters */
async function endOf(socket: Socket): Promise<string> {
  let end = '';
  if (socket.destroyed) return end;
  socket.on('data', (chunk) => {
    end = (end + chunk.toString('latin1')).slice(-1_000);
  });
  await once(socket, 'close');
  return end;
}

/** Reads the first bytes of a connection, then closes it. @returns nothing if it was closed before */
async function beginOf(socket: Socket): Promise<string> {
  if (socket.destroyed) return '';
  const begin = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])]);
  socket.destroy();
  return begin[0].toString('latin1');
}
