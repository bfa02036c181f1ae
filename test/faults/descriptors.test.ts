/** Clients that use up what a process may have open, and clients that are idle or slow (CONTRACT "Faults of the store"). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type EngineName, engines, type Service } from '../support/service.ts';
import { startWorld, type World } from './world.ts';

const openBy = ({ process }: Service): number => readdirSync(`/proc/${process.pid}/fd`).length;

/** The number of descriptors that a process may have. */
function limit({ process }: Service, most: number): void {
  const { status, stderr } = spawnSync('prlimit', [`--pid=${process.pid}`, `--nofile=${most}:`], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** Connections on which nothing comes. */
async function idle({ url }: Service, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  for (const socket of sockets) socket.on('error', () => {});
  return sockets;
}

/** All of them have sent some of a request, and then a little now and then. */
async function sendSlowly(sockets: readonly Socket[], forMs: number): Promise<void> {
  for (const socket of sockets) socket.write('POST /platform/classes/Accounts HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n');
  for (const until = Date.now() + forMs; Date.now() < until; await wait(250))
    for (const socket of sockets) socket.write('X-A: b\r\n');
}

async function usedUp(world: World): Promise<void> {
  const { service } = world;
  const most = openBy(service) + 40;
  limit(service, most);
  const sockets = await idle(service, 200);
  const deadline = Date.now() + 5_000;
  // One is kept in reserve, and given up for a moment now and then.
  while (openBy(service) < most - 1 && Date.now() < deadline) await wait(20);
  assert.ok(openBy(service) >= most - 1, 'all are used');
  await wait(2_000);
  for (const socket of sockets) socket.destroy();
  limit(service, 4_096);
}

function suite(engine: EngineName): void {
  test('no descriptor is left for two seconds: nothing is lost, triggers go on', async () => {
    const world = await startWorld({ engine });
    await world.beside({ name: 'descriptors used up', expect: { ready: 'ready' }, fault: usedUp });
    await world.close();
  });

  test('500 idle connections and 500 slow senders: others are served', async () => {
    const world = await startWorld({ engine });
    await world.beside({
      name: 'idle and slow clients',
      expect: { writes: 'work', reads: 'work', ready: 'ready', condition: null },
      async fault({ service }) {
        const sockets = await idle(service, 1_000);
        await sendSlowly(sockets.slice(500), 1_500);
        for (const socket of sockets) socket.destroy();
      },
    });
    await world.close();
  });
}

for (const engine of engines)
  if (process.platform === 'linux') describe(`connections of others (${engine})`, () => suite(engine));
