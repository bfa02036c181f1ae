import type { FastifyInstance } from 'fastify';
import { jsonType } from '../answer.ts';
import type { Readiness } from '../readiness.ts';

const UNAVAILABLE = '{"status":"unavailable","checks":{"store":"unreachable"}}';

/**
 * CONTRACT "Operations": whether the process lives, which asks nothing; and whether it takes requests: it does not while it drains, nor
 * while the store does not work.
 */
export function registerHealth(server: FastifyInstance, isDraining: () => boolean, readiness: Readiness): void {
  server.get('/health/live', (_request, reply) => {
    reply.header('content-type', jsonType).send('{"status":"live"}');
  });
  for (const url of ['/health', '/health/ready'])
    server.get(url, async (_request, reply) => {
      const isReady = isDraining() || (await readiness.isReady());
      // It may have been told to end meanwhile.
      const body = isDraining() ? '{"status":"draining"}' : isReady ? '{"status":"ready"}' : UNAVAILABLE;
      reply.header('content-type', jsonType).header('cache-control', 'no-store');
      return reply.code(isReady && !isDraining() ? 200 : 503).send(body);
    });
}
