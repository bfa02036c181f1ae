/**
 * What other programs do to the service: nothing, many or slow connections, a held write lock, SIGTERM; and a clock that is set. All on one
 * world for each engine. Reference: faults.md#passing-faults, operations.md#start-and-stop.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ask } from '../support/files.ts';
import { anyEngine, type EngineName, engines } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { holdLock } from './lock.ts';
import { type Injector, injector } from './preload/control.ts';
import { startWorld, type World } from './world.ts';

const HOUR = 3_600_000;
const unharmed = { writes: 'work', reads: 'work', ready: 'ready', condition: null } as const;

const openBy = ({ process }: ServiceProcess): number => readdirSync(`/proc/${process.pid}/fd`).length;

/** Sets the number of descriptors that a process may open. */
function limitDescriptors({ process }: ServiceProcess, max: number): void {
  const { status, stderr } = spawnSync('prlimit', [`--pid=${process.pid}`, `--nofile=${max}:`], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** Opens connections that send nothing. */
async function idle({ url }: ServiceProcess, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  for (const socket of sockets) socket.on('error', () => {});
  return sockets;
}

/** Sends the head of a request on each connection, slowly. */
async function sendSlowly(sockets: readonly Socket[], forMs: number): Promise<void> {
  for (const socket of sockets) socket.write('POST /platform/classes/Accounts HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n');
  for (const until = Date.now() + forMs; Date.now() < until; await wait(250))
    for (const socket of sockets) socket.write('X-A: b\r\n');
}

async function useAllDescriptors({ service }: World): Promise<void> {
  const max = openBy(service) + 40;
  limitDescriptors(service, max);
  const sockets = await idle(service, 200);
  const deadline = Date.now() + 5_000;
  // The service keeps one in reserve and releases it for a moment now and then.
  while (openBy(service) < max - 1 && Date.now() < deadline) await wait(20);
  assert.ok(openBy(service) >= max - 1, 'all are used');
  await wait(1_500);
  for (const socket of sockets) socket.destroy();
  limitDescriptors(service, 4_096);
}

/** Many clients that send one request on each connection. Refused connections are allowed, since no process listens between two services. */
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

for (const engine of engines)
  describe(`other programs (${engine})`, () => {
    let world: World;
    const faults = anyEngine.includes(engine) ? injector() : null;
    before(async () => {
      world = await startWorld({ engine, ...(faults && { env: faults.env }) });
    });
    after(() => world?.close());
    suite(engine, {
      world: () => world,
      faults: () => faults,
    });
  });

function suite(engine: EngineName, get: { world(): World; faults(): Injector | null }): void {
  test('without a fault all is served and nothing is logged', async () => {
    await get.world().beside({ name: 'none', expect: unharmed, fault: () => wait(500) });
  });

  if (anyEngine.includes(engine))
    test('the clock is set a day ahead, an hour back, right again: writes, triggers and schedules go on by the new clock', async (t) => {
      const faults = get.faults();
      if (!faults) return t.skip('no C compiler');
      assert.ok(faults.isLoaded());
      for (const [name, offset] of [
        ['a day ahead', 24 * HOUR],
        ['an hour back', -HOUR],
        ['right again', 0],
      ] as const)
        await t.test(name, async () => {
          await get.world().beside({
            name,
            expect: unharmed,
            async fault() {
              faults.setClock(offset);
              await wait(300);
            },
          });
        });
    });

  if (process.platform === 'linux') {
    test('500 idle connections and 500 slow senders: others are served', async () => {
      await get.world().beside({
        name: 'idle and slow clients',
        expect: unharmed,
        async fault({ service }) {
          const sockets = await idle(service, 1_000);
          await sendSlowly(sockets.slice(500), 1_200);
          for (const socket of sockets) socket.destroy();
        },
      });
    });

    test('no descriptor is left for a while: nothing is lost, triggers go on', async () => {
      await get.world().beside({ name: 'descriptors used up', expect: { ready: 'ready' }, fault: useAllDescriptors });
    });
  }

  if (engine === 'sqlite')
    test('another process holds the write lock for seconds: health answers, reads are served, then all is', async () => {
      const { dataDir, appId } = get.world().service;
      await get.world().beside({
        name: 'lock',
        expect: { reads: 'work', ready: 'ready' },
        async fault() {
          const release = await holdLock(join(dataDir, 'systems', appId, 'records.sqlite'));
          await wait(6_000);
          await release();
        },
      });
    });

  test('SIGTERM under load: code 0, no connection is reset, what was answered is there', async () => {
    for (const name of ['first', 'second'])
      await get.world().beside({
        name: `SIGTERM, the ${name}`,
        expect: { broken: true },
        async fault(world) {
          await wait(200);
          const storm = newConnections(world.service.url);
          await wait(200);
          assert.equal(await world.service.stop(), 0);
          const { answered, failed } = await storm.end();
          assert.ok((answered.get('200') ?? 0) > 0);
          // One of thousands may be in its handshake while the socket is closed.
          assert.ok(failed.length <= 1, `connections that were neither answered nor refused: ${failed}`);
          await world.restart();
        },
      });
  });
}
