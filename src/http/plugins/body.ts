import type { IncomingMessage, ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FREE_BYTES } from '../../admission/place.ts';
import { Places } from '../../admission/places.ts';
import { readBody } from '../body-reader.ts';
import type { Edge } from '../edge.ts';
import { senderOf } from '../sender.ts';

const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

const MIB = 1024 * 1024;
/**
 * Bytes of bodies that are in memory until their requests are answered, and of answers until they are taken: on small machines a part of the
 * heap, which holds bodies as values too, and in each case several of the largest kind.
 */
export const MAX_BYTES_IN_MEMORY = Math.max(96 * MIB, Math.min(256 * MIB, getHeapStatistics().heap_size_limit / 4));
const inMemory = {
  all: MAX_BYTES_IN_MEMORY,
  ofSystem: (MAX_BYTES_IN_MEMORY / 4) * 3,
  ofCaller: MAX_BYTES_IN_MEMORY / 2,
} as const;

/**
 * Bodies are read as text whatever their type says and parsed by the endpoints' own reader: Parse's clients send JSON as text/plain
 * (CONTRACT "Requests"), and what is no JSON is refused there. All that are being read share the memory that they take.
 */
export function registerBodyReader(server: FastifyInstance, { systems }: Pick<Edge, 'systems'>): void {
  const places = new Places(inMemory);
  /** Where the answers go to requests whose bodies may be long. */
  const responses = new WeakMap<IncomingMessage, ServerResponse>();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage, done) => {
    const ask = (size: number) => {
      const place = places.ask(senderOf(systems, request), size);
      const response = responses.get(request.raw);
      if (response) place.freeWhenAnswered(response);
      return place;
    };
    readBody({ payload, bound: request.routeOptions.bodyLimit, ask }, done);
  });
  server.addHook('onRequest', ({ headers, raw }, reply, done) => {
    // A type that is none says as little as no type at all; the framework would refuse it.
    const type = headers['content-type'];
    if (type !== undefined && !mediaType.test(type)) delete headers['content-type'];
    if (Number(headers['content-length']) > FREE_BYTES || headers['transfer-encoding'] !== undefined)
      responses.set(raw, reply.raw);
    done();
  });
}
