import { getHeapStatistics } from 'node:v8';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Bounds, ReservationPool } from '../../admission/reservation-pool.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { bodyBounds, type JsonBounds, parseScannedJson, scanJson } from '../../values/index.ts';
import { senderOf } from './body-reader.ts';
import type { HttpServices } from './services.ts';

/** Approximate bytes that one value takes in memory, counted like `limits.jsonMarks`. */
const VALUE_BYTES = 100;

/** Characters that count as one value: a body of 20 MB is a body of the maximum size, whatever is in it. */
const CHARACTERS_PER_VALUE = Math.floor(limits.bodyBytes / limits.jsonMarks);

/**
 * Limits of the values that parsed bodies hold in memory until their requests are answered: two bodies of the maximum size; on small machines a
 * quarter of the heap, and at least two bodies of the size that is parsed at once. A body above a caller's share is parsed if that caller has no
 * other.
 */
export function maxValuesInMemory(heapBytes: number): Bounds {
  const all = Math.max(2 * limits.jsonMarksAtOnce, Math.min(2 * limits.jsonMarks, Math.floor(heapBytes / 4 / VALUE_BYTES)));
  return { all, ofSystem: (all / 4) * 3, ofCaller: all / 2 };
}

/** Parses long bodies without blocking the event loop or exhausting memory. */
export class LongBodies {
  readonly #systems: HttpServices['systems'];
  readonly #pool = new ReservationPool(maxValuesInMemory(getHeapStatistics().heap_size_limit));

  constructor({ systems }: Pick<HttpServices, 'systems'>) {
    this.#systems = systems;
  }

  /**
   * Parses a body.
   * @throws tooManyValues (413); invalidJson (107); badRequest if the client disconnected while the body waited
   */
  async read(request: FastifyRequest, reply: FastifyReply, text: string, bounds: JsonBounds = bodyBounds): Promise<JsonValue> {
    const sender = senderOf(this.#systems, request);
    const scanned = await scanJson(text, bounds, sender.system);
    const reservation = this.#pool.request(sender, Math.max(scanned.marks, Math.ceil(text.length / CHARACTERS_PER_VALUE)));
    reservation.releaseWhenAnswered(reply.raw);
    reservation.completed();
    await reservation.granted;
    if (reply.raw.destroyed) fail('badRequest');
    return parseScannedJson(scanned, bounds.levels, sender.system);
  }
}
