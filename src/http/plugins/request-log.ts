import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../observe/index.ts';

/** A line for each request where the log is at debug. It holds the pattern of the path: the path itself may carry what a client put there. */
export function registerRequestLog(server: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  server.addHook('onResponse', (request, reply, done) => {
    const { method, id, routeOptions } = request;
    log.debug(
      { request: id, method, route: routeOptions.url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    );
    done();
  });
}
