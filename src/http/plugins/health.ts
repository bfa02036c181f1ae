import type { FastifyInstance } from 'fastify';
import { jsonType } from '../answer.ts';

/** CONTRACT "Addresses": whether the process lives, and whether it takes requests; it does not while it drains. */
export function registerHealth(server: FastifyInstance, isDraining: () => boolean): void {
  const method = ['GET', 'HEAD'];
  server.route({
    method,
    url: '/health/live',
    handler: (_request, reply) => {
      reply.header('content-type', jsonType).send('{"status":"live"}');
    },
  });
  server.route({
    method,
    url: '/health/ready',
    handler: (_request, reply) => {
      const draining = isDraining();
      reply.header('content-type', jsonType).code(draining ? 503 : 200);
      reply.send(draining ? '{"status":"draining"}' : '{"status":"ready"}');
    },
  });
}
