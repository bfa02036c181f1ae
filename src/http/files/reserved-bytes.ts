import type { ServerResponse } from 'node:http';
import type { Place, Sender } from '../../admission/place.ts';
import { type Bounds, Places } from '../../admission/places.ts';

const MIB = 1024 * 1024;
/** Shares of the disk space that uploads may take while they arrive or are inspected. Further uploads wait, unread. */
export const diskBounds: Bounds = { all: 2048 * MIB, ofSystem: 1536 * MIB, ofCaller: 1024 * MIB };
/** Minimum share of an upload: an open file has a cost too. */
const MIN_BYTES = MIB;

/** Creates the reservations for the uploads of this process. */
export const uploadReservations = (): Places => new Places(diskBounds);

/** What an upload reserves space for. */
export interface ReservationRequest {
  readonly places: Places;
  readonly sender: () => Sender;
  readonly response: ServerResponse;
  /** Expected bytes; if unknown, the maximum. */
  readonly size: number;
}

/** The bytes of an upload, read once space is reserved for them. */
export class ReservedBytes {
  readonly #by: ReservationRequest;
  readonly #bytes: AsyncIterator<Buffer>;
  #place: Place | undefined;
  #isTaken = false;
  /** Rejects the pending read. */
  #giveUp: (error: unknown) => void = () => {};

  constructor(by: ReservationRequest, bytes: AsyncIterator<Buffer>) {
    this.#by = by;
    this.#bytes = bytes;
  }

  /** Waits for the reservation. */
  async wait(): Promise<Place> {
    this.#place ??= this.#ask();
    await this.#place.given;
    return this.#place;
  }

  /** @throws bodyTooSlow (408) if the reservation was revoked */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    const place = await this.wait();
    try {
      for (;;) {
        const { value, done } = this.#isTaken ? await place.taken : await this.#next();
        if (done) return place.ended();
        place.came(value.length);
        yield value;
      }
    } finally {
      await this.drop();
    }
  }

  /** Whether the reservation was revoked because the client was too slow. */
  get isRevoked(): boolean {
    return this.#isTaken;
  }

  /**
   * Reads the next bytes. Uses one lasting callback instead of `Promise.race` with `taken`: each race would keep its result in memory as long as that
   * promise lives.
   */
  #next(): Promise<IteratorResult<Buffer>> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      this.#bytes.next().then(resolve, reject);
    });
  }

  #ask(): Place {
    const { places, sender, response, size } = this.#by;
    const place = places.ask(sender(), Math.max(size, MIN_BYTES));
    place.freeWhenAnswered(response);
    place.taken.catch((error) => {
      this.#isTaken = true;
      this.#giveUp(error);
    });
    return place;
  }

  /** Stops reading. */
  async drop(): Promise<void> {
    const dropped = this.#bytes.return?.();
    // Do not wait for a client that was too slow.
    if (this.#isTaken) dropped?.catch(() => {});
    else await dropped;
  }

  /** Frees the reservation. */
  free(): void {
    this.#place?.free();
  }
}
