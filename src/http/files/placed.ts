import type { ServerResponse } from 'node:http';
import type { Place, Sender } from '../../admission/place.ts';
import { type Bounds, Places } from '../../admission/places.ts';

const MIB = 1024 * 1024;
/** Bytes of uploads that are on their way to the disk at once, or lie there to be looked at. Others wait, unread. */
const onDisk: Bounds = { all: 2048 * MIB, ofSystem: 1536 * MIB, ofCaller: 1024 * MIB };
/** What an upload takes of them at least: an open file costs something too. */
const LEAST_BYTES = MIB;

/** The room for uploads of this process. */
export const uploadPlaces = (): Places => new Places(onDisk);

/** What an upload asks for room with. */
export interface PlacedBy {
  readonly places: Places;
  readonly sender: () => Sender;
  readonly response: ServerResponse;
  /** Bytes, as far as it is known; else as many as may come. */
  readonly size: number;
}

/** The bytes of an upload, which are read once there is room for them. */
export class PlacedBytes {
  readonly #by: PlacedBy;
  readonly #bytes: AsyncIterator<Buffer>;
  #place: Place | undefined;
  #isTaken = false;
  /** Ends the wait for the next bytes. */
  #giveUp: (error: unknown) => void = () => {};

  constructor(by: PlacedBy, bytes: AsyncIterator<Buffer>) {
    this.#by = by;
    this.#bytes = bytes;
  }

  /** Waits for room. */
  async wait(): Promise<Place> {
    this.#place ??= this.#ask();
    await this.#place.given;
    return this.#place;
  }

  /** @throws bodyTooSlow (408) where the room was taken away */
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

  /** Whether the sender was too slow. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** The next bytes. A race with `taken` would keep them until the end: each race stays with a promise that lasts. */
  #next(): Promise<IteratorResult<Buffer>> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      this.#bytes.next().then(resolve, reject);
    });
  }

  #ask(): Place {
    const { places, sender, response, size } = this.#by;
    const place = places.ask(sender(), Math.max(size, LEAST_BYTES));
    place.freeWhenAnswered(response);
    place.taken.catch((error) => {
      this.#isTaken = true;
      this.#giveUp(error);
    });
    return place;
  }

  /** Reads no more. */
  async drop(): Promise<void> {
    const dropped = this.#bytes.return?.();
    // Who was too slow may be so for ever.
    if (this.#isTaken) dropped?.catch(() => {});
    else await dropped;
  }

  /** Lets go of the room. */
  free(): void {
    this.#place?.free();
  }
}
