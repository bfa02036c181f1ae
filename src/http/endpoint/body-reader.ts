import type { IncomingMessage, ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { takeInTurns } from '../../admission/body-share.ts';
import { FREE_BYTES, type Reservation, type Sender } from '../../admission/reservation.ts';
import { ReservationPool } from '../../admission/reservation-pool.ts';
import { serviceError } from '../../errors/fail.ts';
import { GrowingText } from '../../kernel/growing-text.ts';
import { networkOf } from '../../kernel/network.ts';
import type { HttpServices } from './services.ts';

/** A body to be read. */
export interface IncomingBody {
  readonly payload: IncomingMessage;
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Reserves memory. Called once the body exceeds `FREE_BYTES`. @param size bytes, or the maximum if unknown */
  readonly reserve: (size: number) => Reservation;
}

/**
 * Reads a body as text. Reading pauses while the body waits for its memory reservation.
 * @param done receives the text, or tooLarge (413), bodyTooSlow (408) if others waited for its memory, badRequest (400) if the client disconnected
 */
export function readBody({ payload, maxBytes, reserve }: IncomingBody, done: (error: Error | null, text?: string) => void): void {
  // A chunked body has no known length.
  const length = Number(payload.headers['content-length'] ?? maxBytes);
  if (length > maxBytes) {
    done(serviceError('tooLarge'));
    return;
  }
  const bytes = new GrowingText(length);
  let size = 0;
  let reservation: Reservation | undefined;
  const end = (error: Error | null) => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    if (error) {
      bytes.clear();
      reservation?.release();
      done(error);
    } else {
      reservation?.completed();
      done(null, bytes.text());
    }
  };
  const onEnd = () => end(null);
  // The client disconnected.
  const onError = () => end(serviceError('badRequest'));
  const onData = (piece: Buffer) => {
    size += piece.length;
    if (size > maxBytes) {
      end(serviceError('tooLarge'));
      return;
    }
    if (reservation?.isGranted) takeInTurns(payload, piece, reservation.sender.system, () => bytes.add(piece));
    else bytes.add(piece);
    if (size <= FREE_BYTES) return;
    reservation ??= awaitReservation(payload, reserve(length), end);
    reservation.received(piece.length);
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}

/** Waits for a memory reservation. @param end called if the reservation is revoked */
function awaitReservation(payload: IncomingMessage, reservation: Reservation, end: (error: Error) => void): Reservation {
  reservation.revoked.catch(end);
  if (reservation.isGranted) return reservation;
  payload.pause();
  reservation.granted.then(() => payload.resume());
  return reservation;
}

/** Returns to whom a body is attributed before it is read: the system that a header or the path names, and the client's network. */
export function senderOf(systems: Pick<HttpServices['systems'], 'isKnown'>, request: FastifyRequest): Sender {
  const named = request.headers['x-platform-application-id'] || (request.params as { readonly appId?: string } | null)?.appId;
  const isNamed = typeof named === 'string' && systems.isKnown(named);
  return { system: isNamed ? named : '', caller: networkOf(request.ip ?? '') };
}

const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

const MIB = 1024 * 1024;
/**
 * Memory for bodies until their requests are answered, and for answers until they are sent, in bytes. On small machines a quarter of the heap (which
 * also holds the parsed values), and at least several bodies of the largest kind.
 */
export const bytesInMemory = (heapBytes: number): number => Math.max(96 * MIB, Math.min(256 * MIB, heapBytes / 4));
export const MAX_BYTES_IN_MEMORY = bytesInMemory(getHeapStatistics().heap_size_limit);
/** Shares of the memory that requests hold: bodies, pages of an export. */
export const memoryBounds = {
  all: MAX_BYTES_IN_MEMORY,
  ofSystem: (MAX_BYTES_IN_MEMORY / 4) * 3,
  ofCaller: MAX_BYTES_IN_MEMORY / 2,
} as const;

/** The response of a request whose body may be long. A property, because a WeakMap keyed by requests is too slow (adr/0023). */
const answer = Symbol('answer');
type Answered = FastifyRequest & { [answer]: ServerResponse | null };

/**
 * Registers the parser of bodies: every body is read as text, whatever its content type, and parsed by the endpoint. Parse clients send JSON as
 * text/plain, and invalid JSON is rejected there (requests.md#bodies). All bodies share one memory limit.
 */
export function registerBodyReader(server: FastifyInstance, { systems }: Pick<HttpServices, 'systems'>): void {
  const pool = new ReservationPool(memoryBounds);
  server.decorateRequest(answer, null);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage, done) => {
    const reserve = (size: number) => {
      const reservation = pool.request(senderOf(systems, request), size);
      const response = (request as Answered)[answer];
      if (response) reservation.releaseWhenAnswered(response);
      return reservation;
    };
    readBody({ payload, maxBytes: request.routeOptions.bodyLimit, reserve }, done);
  });
  server.addHook('onRequest', (request, reply, done) => {
    const { headers } = request;
    // Treat a malformed type like a missing one; the framework would reject the request.
    const type = headers['content-type'];
    if (type !== undefined && !mediaType.test(type)) delete headers['content-type'];
    if (Number(headers['content-length']) > FREE_BYTES || headers['transfer-encoding'] !== undefined)
      (request as Answered)[answer] = reply.raw;
    done();
  });
}
