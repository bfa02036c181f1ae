/** Other processes: one that holds the write lock of the embedded store, and one that sends SIGTERM (CONTRACT "Operations"). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ask } from '../support/files.ts';
import { type EngineName, engines } from '../support/service.ts';
import { holdLock } from './lock.ts';
import { startWorld } from './world.ts';

if (engines.includes('sqlite'))
  test('another process holds the write lock for seconds: health answers, reads are served, then all is (sqlite)', async () => {
    const world = await startWorld();
    const { dataDir, appId } = world.service;
    await world.beside({
      name: 'lock',
      expect: { reads: 'work', ready: 'ready' },
      async fault() {
        const release = await holdLock(join(dataDir, 'systems', appId, 'records.sqlite'));
        await wait(7_000);
        await release();
      },
    });
    await world.close();
  });

/** Many clients that ask once on each of their connections. A refused connection is what is left when nobody listens. */
function newConnections(url: string) {
  const stopping = new AbortController();
  const answered = new Map<string, number>();
  const failed: string[] = [];
  const client = async () => {
    while (!stopping.signal.aborted)
      try {
        const { status } = await ask(`${url}/health/live`);
        answered.set(String(status), (answered.get(String(status)) ?? 0) + 1);
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        if (code !== 'ECONNREFUSED') failed.push(code);
        await wait(5);
      }
  };
  const all = Promise.all(Array.from({ length: 20 }, client));
  return {
    async end() {
      stopping.abort();
      await all;
      return { answered, failed };
    },
  };
}

function ends(engine: EngineName): void {
  test('SIGTERM under load: code 0, no connection is reset, what was answered is there', async () => {
    const world = await startWorld({ engine });
    for (const name of ['first', 'second'])
      await world.beside({
        name: `SIGTERM, the ${name}`,
        expect: { broken: true },
        async fault() {
          await wait(300);
          const { url } = world.service;
          const storm = newConnections(url);
          await wait(200);
          assert.equal(await world.service.stop(), 0);
          const { answered, failed } = await storm.end();
          assert.ok((answered.get('200') ?? 0) > 0);
          // Of thousands: a handshake that was under way as the socket was closed.
          assert.ok(failed.length <= 1, `connections that were neither answered nor refused: ${failed}`);
          await world.restart();
        },
      });
    await world.close();
  });
}

for (const engine of engines) describe(`the end (${engine})`, () => ends(engine));
