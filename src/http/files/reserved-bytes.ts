import type { ServerResponse } from 'node:http';
import type { Reservation, Sender } from '../../admission/reservation.ts';
import { type Bounds, ReservationPool } from '../../admission/reservation-pool.ts';

const MIB = 1024 * 1024;
/** Shares of the disk space that uploads may take while they arrive or are inspected. Further uploads wait, unread. */
export const diskBounds: Bounds = { all: 2048 * MIB, ofSystem: 1536 * MIB, ofCaller: 1024 * MIB };
/** Minimum share of an upload: an open file has a cost too. */
const MIN_BYTES = MIB;

/** Creates the pool for the uploads of this process. */
export const createUploadPool = (): ReservationPool => new ReservationPool(diskBounds);

/** What an upload reserves space for. */
export interface ReservationRequest {
  readonly pool: ReservationPool;
  readonly sender: () => Sender;
  readonly response: ServerResponse;
  /** Expected bytes; if unknown, the maximum. */
  readonly size: number;
}

/** The bytes of an upload, read once space is reserved for them. */
export class ReservedBytes {
  readonly #by: ReservationRequest;
  readonly #bytes: AsyncIterator<Buffer>;
  #reservation: Reservation | undefined;
  #isRevoked = false;
  /** Rejects the pending read. */
  #giveUp: (error: unknown) => void = () => {};

  constructor(by: ReservationRequest, bytes: AsyncIterator<Buffer>) {
    this.#by = by;
    this.#bytes = bytes;
  }

  /** Waits for the reservation. */
  async wait(): Promise<Reservation> {
    this.#reservation ??= this.#request();
    await this.#reservation.granted;
    return this.#reservation;
  }

  /** @throws bodyTooSlow (408) if the reservation was revoked */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    const reservation = await this.wait();
    try {
      for (;;) {
        const { value, done } = this.#isRevoked ? await reservation.revoked : await this.#next();
        if (done) return reservation.completed();
        reservation.received(value.length);
        yield value;
      }
    } finally {
      await this.stop();
    }
  }

  /** Whether the reservation was revoked because the client was too slow. */
  get isRevoked(): boolean {
    return this.#isRevoked;
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

  #request(): Reservation {
    const { pool, sender, response, size } = this.#by;
    const reservation = pool.request(sender(), Math.max(size, MIN_BYTES));
    reservation.releaseWhenAnswered(response);
    reservation.revoked.catch((error) => {
      this.#isRevoked = true;
      this.#giveUp(error);
    });
    return reservation;
  }

  /** Stops reading. */
  async stop(): Promise<void> {
    const dropped = this.#bytes.return?.();
    // Do not wait for a client that was too slow.
    if (this.#isRevoked) dropped?.catch(() => {});
    else await dropped;
  }

  /** Frees the reservation. */
  release(): void {
    this.#reservation?.release();
  }
}
