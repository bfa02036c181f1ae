import type { IncomingMessage, ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FREE_BYTES, type Place, type Sender } from '../../admission/place.ts';
import { Places } from '../../admission/places.ts';
import { serviceError } from '../../errors/fail.ts';
import { GrowingBuffer } from '../../kernel/growing-buffer.ts';
import { withoutMark } from '../../kernel/json.ts';
import { networkOf } from '../../kernel/network.ts';
import type { HttpServices } from './services.ts';

/** A body that is to be read. */
export interface Arrival {
  readonly payload: IncomingMessage;
  /** Bytes that it has at most. */
  readonly bound: number;
  /** Asks for the room that it takes. Called where it has more than `FREE_BYTES`. @param size bytes, as far as it is known */
  readonly ask: (size: number) => Place;
}

/**
 * Reads a body. Nothing more of it is read while it waits for its place.
 * @param done is given its text; tooLarge (413), bodyTooSlow (408) where others waited for its place, badRequest (400) where it broke off
 */
export function readBody({ payload, bound, ask }: Arrival, done: (error: Error | null, text?: string) => void): void {
  // Not known of a body that is sent in chunks.
  const length = Number(payload.headers['content-length'] ?? bound);
  if (length > bound) {
    done(serviceError('tooLarge'));
    return;
  }
  const bytes = new GrowingBuffer(length);
  let size = 0;
  let place: Place | undefined;
  const end = (error: Error | null) => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    if (error) {
      bytes.clear();
      place?.free();
      done(error);
    } else {
      place?.ended();
      done(null, withoutMark(bytes.text()));
    }
  };
  const onEnd = () => end(null);
  // The client has left: nobody's fault.
  const onError = () => end(serviceError('badRequest'));
  const onData = (piece: Buffer) => {
    size += piece.length;
    if (size > bound) end(serviceError('tooLarge'));
    else bytes.add(piece);
    if (size <= FREE_BYTES || size > bound) return;
    place ??= admit(payload, ask(length), end);
    place.came(piece.length);
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}

/** @param end is called where the place is taken away */
function admit(payload: IncomingMessage, place: Place, end: (error: Error) => void): Place {
  place.taken.catch(end);
  if (place.isGiven) return place;
  payload.pause();
  place.given.then(() => payload.resume());
  return place;
}

/** Whose a body is, as far as it shows before the body: the system that a header or the path names, and the network that it comes from. */
export function senderOf(systems: Pick<HttpServices['systems'], 'isKnown'>, request: FastifyRequest): Sender {
  const named = request.headers['x-platform-application-id'] || (request.params as { readonly appId?: string } | null)?.appId;
  const isNamed = typeof named === 'string' && systems.isKnown(named);
  return { system: isNamed ? named : '', caller: networkOf(request.ip ?? '') };
}

const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

const MIB = 1024 * 1024;
/**
 * Bytes of bodies that are in memory until their requests are answered, and of answers until they are taken: on small machines a part of the
 * heap, which holds bodies as values too, and in each case several of the largest kind.
 */
export const MAX_BYTES_IN_MEMORY = Math.max(96 * MIB, Math.min(256 * MIB, getHeapStatistics().heap_size_limit / 4));
/** Of what is in memory for a request: its body, the pages of an export. */
export const inMemory = {
  all: MAX_BYTES_IN_MEMORY,
  ofSystem: (MAX_BYTES_IN_MEMORY / 4) * 3,
  ofCaller: MAX_BYTES_IN_MEMORY / 2,
} as const;

/** Where the answer goes to a request whose body may be long; a property, since no WeakMap is kept by requests (adr/0023). */
const answer = Symbol('answer');
type Answered = FastifyRequest & { [answer]: ServerResponse | null };

/**
 * Bodies are read as text whatever their type says and parsed by the endpoints' own reader: Parse's clients send JSON as text/plain
 * (CONTRACT "Requests"), and what is no JSON is refused there. All that are being read share the memory that they take.
 */
export function registerBodyReader(server: FastifyInstance, { systems }: Pick<HttpServices, 'systems'>): void {
  const places = new Places(inMemory);
  server.decorateRequest(answer, null);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage, done) => {
    const ask = (size: number) => {
      const place = places.ask(senderOf(systems, request), size);
      const response = (request as Answered)[answer];
      if (response) place.freeWhenAnswered(response);
      return place;
    };
    readBody({ payload, bound: request.routeOptions.bodyLimit, ask }, done);
  });
  server.addHook('onRequest', (request, reply, done) => {
    const { headers } = request;
    // A type that is none says as little as no type at all; the framework would refuse it.
    const type = headers['content-type'];
    if (type !== undefined && !mediaType.test(type)) delete headers['content-type'];
    if (Number(headers['content-length']) > FREE_BYTES || headers['transfer-encoding'] !== undefined)
      (request as Answered)[answer] = reply.raw;
    done();
  });
}
