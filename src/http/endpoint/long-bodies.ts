import { getHeapStatistics } from 'node:v8';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Bounds, Places } from '../../admission/places.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { parseScannedJson, scanJson } from '../../values/index.ts';
import { senderOf } from './body-reader.ts';
import type { HttpServices } from './services.ts';

/** Characters from which on a body is read in parts; below, even the worst takes some tens of milliseconds. */
export const LONG_BODY_LENGTH = 128 * 1024;

/** Bytes that a value takes in memory, counted as `limits.jsonMarks` does. */
const VALUE_BYTES = 100;

/**
 * Values that bodies hold in memory until their requests are answered: two bodies of the most values; on small machines a quarter of the heap,
 * and at least what two bodies have that are read at once. A body with more than a caller may have is read when he has no other.
 */
export function valuesWithin(heapBytes: number): Bounds {
  const all = Math.max(2 * limits.jsonMarksAtOnce, Math.min(2 * limits.jsonMarks, Math.floor(heapBytes / 4 / VALUE_BYTES)));
  return { all, ofSystem: (all / 4) * 3, ofCaller: all / 2 };
}

/** Reads long bodies, so that neither one nor many of them keep others from their turns, or take all memory. */
export class LongBodies {
  readonly #systems: HttpServices['systems'];
  readonly #places = new Places(valuesWithin(getHeapStatistics().heap_size_limit));

  constructor({ systems }: Pick<HttpServices, 'systems'>) {
    this.#systems = systems;
  }

  /**
   * The value of a body.
   * @throws tooManyValues (413); invalidJson (107); badRequest where the client left while it waited
   */
  async read(request: FastifyRequest, reply: FastifyReply, text: string): Promise<JsonValue> {
    const scanned = scanJson(text);
    const place = this.#places.ask(senderOf(this.#systems, request), scanned.marks);
    place.freeWhenAnswered(reply.raw);
    place.ended();
    await place.given;
    if (reply.raw.destroyed) fail('badRequest');
    return parseScannedJson(scanned);
  }
}
