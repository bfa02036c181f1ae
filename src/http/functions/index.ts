import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseEarly } from '../endpoint/answer.ts';
import { type RateLimit, rateLimitOf } from '../endpoint/rate-limit.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { translate } from '../plugins/errors.ts';
import { answerCall } from './call.ts';

/** What the settings say of calls. */
export interface FunctionOptions {
  /** Bytes of a body. */
  readonly functionBodyBytes: number;
  /** Requests a minute from one address; 0: no limit. */
  readonly rateLimits: { readonly functions: number };
}

/** SPEC "Server-side functions": outside the data prefix, POST and GET. A HEAD runs the function as a GET does (CONTRACT "Operations"). */
export function registerFunctions(server: FastifyInstance, services: HttpServices, options: FunctionOptions): void {
  const limit = rateLimitOf(options.rateLimits.functions);
  server.route({
    method: ['GET', 'POST'],
    url: '/functions/:appId/:name',
    bodyLimit: options.functionBodyBytes,
    ...(limit && { onRequest: counted(services, limit) }),
    handler(request, reply) {
      answerCall(services, request, reply);
    },
    // A body that cannot be read is refused in its turn.
    errorHandler(error, request, reply) {
      answerCall(services, request, reply, translate(error));
    },
  });
}

/** Counts a request before anything of it is looked at. */
function counted(services: HttpServices, limit: RateLimit) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    try {
      limit.count(request.ip ?? '');
    } catch (error) {
      refuseEarly(services, reply, error);
      return;
    }
    done();
  };
}
