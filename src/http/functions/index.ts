import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseEarly } from '../endpoint/answer.ts';
import { LongBodies } from '../endpoint/long-bodies.ts';
import { type RateLimit, rateLimitOf } from '../endpoint/rate-limit.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { translate } from '../plugins/errors.ts';
import { answerCall } from './call.ts';

/** Settings of function calls. */
export interface FunctionOptions {
  /** Maximum body size in bytes. */
  readonly functionBodyBytes: number;
  /** Requests per minute from one address; 0: no limit. */
  readonly rateLimits: { readonly functions: number };
}

/** Registers function calls by GET and POST, outside the data prefix. HEAD runs a function like GET. Reference: functions.md#calling-a-function. */
export function registerFunctions(
  server: FastifyInstance,
  services: HttpServices,
  options: FunctionOptions,
  long = new LongBodies(services),
): void {
  const called = { services, long };
  const limit = rateLimitOf(options.rateLimits.functions);
  server.route({
    method: ['GET', 'POST'],
    url: '/functions/:appId/:name',
    bodyLimit: options.functionBodyBytes,
    ...(limit && { onRequest: countRequest(services, limit) }),
    handler(request, reply) {
      answerCall(called, request, reply);
    },
    // An unreadable body is reported after the checks of application id and name.
    errorHandler(error, request, reply) {
      answerCall(called, request, reply, translate(error));
    },
  });
}

/** Returns a hook that applies the rate limit before anything else of a request is examined. */
function countRequest(services: HttpServices, limit: RateLimit) {
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
