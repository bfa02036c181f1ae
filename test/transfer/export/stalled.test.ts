/** Exports whose clients do not read: they are bounded, and give way to others (docs/adr/0017-admission.md). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { createMany, defineTable, onEachEngine, tableName } from '../../support/query.ts';
import { soon } from '../../support/soon.ts';
import { addressOf, cellsOf, exported, headersOf } from './exporting.ts';

const MIB = 1024 * 1024;
/** Those that one address may have under way, fewer where the heap is small; and more. */
const MOST = Math.floor(Math.max(96 * MIB, Math.min(256 * MIB, getHeapStatistics().heap_size_limit / 4)) / 2 / (2 * MIB));
const STALLED = 80;
const RECORDS = 4_000;

onEachEngine((get) => {
  const table = tableName('Stalled');
  const sockets: Socket[] = [];
  before(async () => {
    await defineTable(get(), table, { n: 'Number', s: 'String' });
    // More than fits on the way to a client.
    await createMany(
      get(),
      table,
      Array.from({ length: RECORDS }, (_, n) => ({ n, s: 'x'.repeat(5_000) })),
    );
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
  });

  test('Export: clients that read nothing lose their exports where others wait for their room', async () => {
    const { hostname, port, pathname, host } = addressOf(get(), table);
    const headers = { ...headersOf(get()), host, connection: 'close' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    for (let n = 0; n < STALLED; n++) {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'connect');
      // Nothing is read without a listener for data.
      socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
    }
    await soon(async () => assert.ok(sockets.filter(({ bytesRead }) => bytesRead > 0).length >= MOST), 60_000);
    const { text } = await exported(get(), table, { keys: 'n' });
    assert.equal(cellsOf(text).length, RECORDS + 1);
    const ends = await Promise.all(sockets.map(endOf));
    const cutOff = ends.filter((end) => !end.endsWith('\r\n0\r\n\r\n'));
    assert.ok(cutOff.length > 0, 'some were given up');
    assert.ok(cutOff.every((end) => !end.startsWith('HTTP/1.1 5')));
    assert.doesNotMatch(get().output(), /broke off|fault/);
  });
});

/** The last that comes from a connection before it is closed. */
async function endOf(socket: Socket): Promise<string> {
  let end = '';
  if (socket.destroyed) return end;
  socket.on('data', (chunk) => {
    end = (end + chunk.toString('latin1')).slice(-1_000);
  });
  await once(socket, 'close');
  return end;
}
