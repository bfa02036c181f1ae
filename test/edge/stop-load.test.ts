/** SIGTERM while clients go on: no connection that could be served is reset. Reference: operations.md#start-and-stop. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

/** Resets allowed among thousands of requests: a connection may be in its handshake while the socket is closed. */
const MAX_RESET = 1;

/** Starts clients that write one record after the other, and counts the outcomes. */
function load({ url, appId, masterKey }: ServiceProcess, agent: Agent | undefined) {
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
  const clients = Array.from({ length: 30 }, client);
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
      test('Running: SIGTERM resets no client that could be served: requests each on a connection of its own, and on connections that stay', async () => {
        const service = await startServiceProcess({ engine, env: { WEB_CONCURRENCY: String(processes) } });
        const loads = [load(service, undefined), load(service, new Agent({ keepAlive: true, maxSockets: 30 }))];
        await wait(800);
        assert.equal(await service.stop(), 0);
        for (const { end, outcomes } of loads) {
          await end();
          const { 201: done = 0, ECONNREFUSED: _refused, ...others } = Object.fromEntries(outcomes);
          assert.ok(Number(done) > 0);
          const reset = Object.values(others).reduce((sum, count) => sum + count, 0);
          assert.ok(reset <= MAX_RESET, JSON.stringify(Object.fromEntries(outcomes)));
        }
      });
    });
