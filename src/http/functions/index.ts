import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseEarly } from '../answer.ts';
import type { Edge } from '../edge.ts';
import { type AddressLimit, limitOf } from '../limits/address-limit.ts';
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
export function registerFunctions(server: FastifyInstance, edge: Edge, options: FunctionOptions): void {
  const limit = limitOf(options.rateLimits.functions);
  server.route({
    method: ['GET', 'POST'],
    url: '/functions/:appId/:name',
    bodyLimit: options.functionBodyBytes,
    ...(limit && { onRequest: counted(edge, limit) }),
    handler(request, reply) {
      answerCall(edge, request, reply);
    },
    // A body that cannot be read is refused in its turn.
    errorHandler(error, request, reply) {
      answerCall(edge, request, reply, translate(error));
    },
  });
}

/** Counts a request before anything of it is looked at. */
function counted(edge: Edge, limit: AddressLimit) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    try {
      limit.count(request.ip ?? '');
    } catch (error) {
      refuseEarly(edge, reply, error);
      return;
    }
    done();
  };
}
