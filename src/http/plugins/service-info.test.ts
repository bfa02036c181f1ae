import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastify } from 'fastify';
import type { Unreachable } from '../../storage/engine.ts';
import { Readiness } from './readiness.ts';
import { registerHealth } from './service-info.ts';

const UNAVAILABLE = '{"status":"unavailable","checks":{"store":"unreachable"}}';

for (const [what, { isDraining, isAway, unreachable = { nodes: 0, systems: 0 } }, status, text] of [
  ['works', { isDraining: false, isAway: false }, 200, '{"status":"ready"}'],
  ['has a store that is away', { isDraining: false, isAway: true }, 503, UNAVAILABLE],
  [
    'has a database with a node that is away',
    { isDraining: false, isAway: false, unreachable: { nodes: 1, systems: 12 } },
    200,
    '{"status":"ready","unreachable":{"nodes":1,"systems":12}}',
  ],
  ['is to end', { isDraining: true, isAway: false }, 503, '{"status":"draining"}'],
] as readonly [string, { isDraining: boolean; isAway: boolean; unreachable?: Unreachable }, number, string][])
  test(`a service that ${what}: /health and /health/ready say the same, and it lives`, async () => {
    const server = fastify();
    let asked = 0;
    const readiness = new Readiness(async () => {
      asked++;
      if (isAway) throw new Error('away');
      return unreachable;
    });
    registerHealth(server, () => isDraining, readiness);
    const live = await server.inject('/health/live');
    assert.deepEqual([live.statusCode, live.body, asked], [200, '{"status":"live"}', 0]);
    for (const url of ['/health', '/health/ready']) {
      const answer = await server.inject(url);
      assert.deepEqual([answer.statusCode, answer.body], [status, text], url);
    }
    await server.close();
  });
