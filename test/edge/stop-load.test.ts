/** SIGTERM beside clients who go on: CONTRACT "Running", and what a service that ends owes to those who wait to be accepted. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines, type Service, startService } from '../support/service.ts';

/** Of thousands: a handshake that was under way as the socket was closed. */
const FEW = 1;

/** Clients that write one after the other until told to end, and what became of it. */
function load({ url, appId, masterKey }: Service, agent: Agent | undefined) {
  const { hostname, port } = new URL(url);
  const headers = { 'X-Platform-Application-Id': appId, 'X-Platform-Master-Key': masterKey, 'Content-Type': 'application/json' };
  const outcomes = new Map<string, number>();
  let isOver = false;
  const write = () =>
    new Promise<string>((resolve) => {
      const sent = request({ hostname, port, method: 'POST', path: '/platform/classes/Kept', headers, agent: agent ?? false });
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
      sent.on('response', (answer) => {
        answer.on('error', () => resolve('cut')).on('end', () => resolve(String(answer.statusCode)));
        answer.resume();
      });
      sent.end('{"n":1}');
    });
  const client = async () => {
    while (!isOver) {
      const outcome = await write();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome === 'ECONNREFUSED') await wait(20);
    }
  };
  const clients = Array.from({ length: 50 }, client);
  return {
    outcomes,
    async end() {
      isOver = true;
      await Promise.all(clients);
      agent?.destroy();
    },
  };
}

for (const engine of engines)
  for (const processes of engine === 'postgres' ? [1, 2] : [1])
    describe(`${engine}, processes: ${processes}`, () => {
      for (const [what, agent] of [
        ['each on a connection of its own', () => undefined],
        ['on connections that stay', () => new Agent({ keepAlive: true, maxSockets: 50 })],
      ] as const)
        test(`Running: SIGTERM resets nobody who could be served: requests ${what}`, async () => {
          const service = await startService({ engine, env: { WEB_CONCURRENCY: String(processes) } });
          const clients = load(service, agent());
          await wait(1_000);
          assert.equal(await service.stop(), 0);
          await clients.end();
          const { 201: done = 0, ECONNREFUSED: _refused, ...others } = Object.fromEntries(clients.outcomes);
          assert.ok(Number(done) > 0);
          const reset = Object.values(others).reduce((sum, count) => sum + count, 0);
          assert.ok(reset <= FEW, JSON.stringify(Object.fromEntries(clients.outcomes)));
        });
    });
