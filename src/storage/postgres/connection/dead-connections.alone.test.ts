import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { query } from '../testing/server.ts';
import type { Row } from './database.ts';
import { DeadConnections } from './dead-connections.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';
import { sql, withDatabase } from './testing/open.ts';

/** A proxy that forwards a limited number of bytes per second from clients. */
async function slowLine(url: string, bytesPerSecond: number): Promise<{ url: string; server: Server }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
    far.pipe(near);
    near.on('data', (bytes) => {
      far.write(bytes);
      near.pause();
      setTimeout(() => near.resume(), (bytes.length / bytesPerSecond) * 1000);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('close', () => {
    for (const socket of sockets) socket.destroy();
  });
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: through.href, server };
}

describe('connections that are waited on', { concurrency: true }, () => {
  test('what takes its time to be sent is not taken for lost', () => {
    let line: { url: string; server: Server } | undefined;
    const via = async (url: string) => {
      line = await slowLine(url, 4 * 1024 * 1024);
      return line.url;
    };
    return withDatabase(
      async ({ database }) => {
        await database.atomically([sql('CREATE TABLE t (a text)')]);
        const insert = (value: string) => database.transact((session) => session.query(sql('INSERT INTO t VALUES ($1)', value)));
        // A prepared statement is one single message, until whose end the server is idle.
        for (let time = 0; time < 10; time++) await insert('');
        const value = 'x'.repeat(24 * 1024 * 1024);
        await insert(value);
        assert.deepEqual(await database.short(sql('SELECT max(length(a)) FROM t')), [[value.length]]);
      },
      { via, timeLimit: 30_000 },
    ).finally(() => line?.server.close());
  });

  test('a long statement goes on while the server takes no other connection', () =>
    withDatabase(
      async ({ url, database }) => {
        const other = new URL(url);
        const name = other.pathname.slice(1);
        other.pathname = '/template1';
        const long = database.atomically([sql('SELECT pg_sleep(14)'), sql('SELECT 1')]);
        long.catch(() => {});
        await delay(500);
        await query(other.href, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
        assert.equal((await long).length, 2);
      },
      { timeLimit: 30_000 },
    ));

  /** Returns which of these connections are destroyed, and the process ids whose sessions are terminated, if the server returns these rows. */
  async function cutAmong(sessions: readonly Row[], links: readonly Partial<PipelinedConnection>[]) {
    const cut: unknown[] = [];
    const ended: string[] = [];
    const all = links.map((link) => {
      const destroy = () => cut.push(link.processId);
      return { silentFor: 5_000, lastReceivedAt: 0, lost: undefined, destroy, ...link } as unknown as PipelinedConnection;
    });
    const watch = new DeadConnections({
      links: () => all.filter(({ processId }) => !cut.includes(processId)),
      knowsProcesses: true,
      query: async ({ text, params }) => {
        if (!text.includes('pg_terminate_backend')) return [...sessions];
        ended.push(String(params[0]));
        return [];
      },
      onSilent: () => {},
      onLost: () => {},
    });
    await delay(800);
    watch.close();
    return { cut, ended };
  }

  test('a server whose clock was set ends no long statement', async () => {
    const connectedAt = performance.now() - 60_000;
    const forward = await cutAmong([[1, 'active', null, 4_000, 3_660_000]], [{ processId: 1, connectedAt }]);
    assert.deepEqual(forward, { cut: [], ended: [] });
  });

  test("a session that waits for us is ended where it is ours; another's that has its number is left", async () => {
    const connectedAt = performance.now() - 60_000;
    const found = await cutAmong(
      [
        [1, 'idle in transaction', 'ClientRead', 4_000, 60_000],
        [2, 'active', null, 4_000, 10_000],
        [3, 'idle', 'ClientRead', 4_000, 900_000],
        [4, 'active', null, 4_000, 60_000],
      ],
      [1, 2, 3, 4, 5].map((processId) => ({ processId, connectedAt })),
    );
    assert.deepEqual(found, { cut: [1, 2, 3, 5], ended: ['{1}'] });
  });
});
