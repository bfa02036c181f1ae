import type { ServerResponse } from 'node:http';
import { serviceError } from '../errors/fail.ts';
import { sentBytes } from './pace.ts';

/** Bodies up to this size need no place, so the usual request never waits, however many there are. */
export const FREE_BYTES = 16 * 1024;

/** The sender of a body, by whom shares are counted. */
export interface Sender {
  /** Empty if no system is named yet; all such senders share one count. */
  readonly system: string;
  /** A key, a user or a network. If it is to count separately in each system, the text includes the system's name. */
  readonly caller: string;
}

/** A reservation of capacity for one request body. */
export class Place {
  readonly sender: Sender;
  readonly size: number;
  /** Resolves when the place is granted, or freed before. */
  readonly given: Promise<void>;
  /** Rejects with bodyTooSlow when the place is revoked. */
  readonly taken: Promise<never>;
  readonly #leave: (place: Place) => void;
  #give: () => void = () => {};
  #take: (error: Error) => void = () => {};
  #bytes = 0;
  /** Bytes at the last measurement; `undefined` before the first. */
  #measured: number | undefined;
  #isWhole = false;
  #isGiven = false;
  #isFree = false;
  /** The response to the request whose body holds the place. */
  #response: ServerResponse | undefined;

  constructor(sender: Sender, size: number, leave: (place: Place) => void) {
    this.sender = sender;
    this.size = size;
    this.#leave = leave;
    this.given = new Promise((resolve) => {
      this.#give = resolve;
    });
    this.taken = new Promise((_resolve, reject) => {
      this.#take = reject;
    });
    // Avoids an unhandled rejection: usually there is no listener any more.
    this.taken.catch(() => {});
  }

  /** Whether the place has been granted. */
  get isGiven(): boolean {
    return this.#isGiven;
  }

  grant(): void {
    this.#isGiven = true;
    this.#give();
  }

  /** Counts bytes received. */
  came(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Records that the body is complete. From now on the client can be slow only in reading the answer. */
  ended(): void {
    this.#isWhole = true;
    this.#measured = undefined;
  }

  /** Frees the place when the answer has been written completely (a long one is then counted by `BufferedAnswers`) or the connection is closed. */
  freeWhenAnswered(response: ServerResponse): void {
    if (this.#isFree) return;
    // The client has disconnected; no further events will come.
    if (response.destroyed) {
      this.free();
      return;
    }
    this.#response = response;
    for (const event of ['prefinish', 'close']) response.once(event, () => this.free());
  }

  /**
   * Returns the bytes since the last measurement, of the body or of the answer. Infinity at the first measurement, and while nothing waits for the
   * client.
   */
  measure(): number {
    const bytes = this.#isWhole ? this.#answered() : this.#bytes;
    const since = this.#measured === undefined ? Number.POSITIVE_INFINITY : bytes - this.#measured;
    this.#measured = Number.isFinite(bytes) ? bytes : undefined;
    return since;
  }

  #answered(): number {
    return this.#response ? sentBytes(this.#response) : Number.POSITIVE_INFINITY;
  }

  /** Makes the next measurement the first again. */
  forget(): void {
    this.#measured = undefined;
  }

  /** Revokes the place. If the body is complete, the connection is closed, because the answer has begun. */
  take(): void {
    if (this.#isWhole) this.#response?.destroy();
    else this.#take(serviceError('bodyTooSlow'));
    this.free();
  }

  free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    this.#response = undefined;
    this.#give();
    this.#leave(this);
  }
}
