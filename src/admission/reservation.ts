import type { ServerResponse } from 'node:http';
import { serviceError } from '../errors/fail.ts';
import { sentBytes } from './pace.ts';

/** Bodies up to this size need no reservation, so the usual request never waits, however many there are. */
export const FREE_BYTES = 16 * 1024;

/** The sender of a body, by whom shares are counted. */
export interface Sender {
  /** Empty if no system is named yet; all such senders share one count. */
  readonly system: string;
  /** A key, a user or a network. If it is to count separately in each system, the text includes the system's name. */
  readonly caller: string;
}

/** A reservation of capacity for one request body. */
export class Reservation {
  readonly sender: Sender;
  readonly size: number;
  /** Resolves when the reservation is granted, or freed before. */
  readonly granted: Promise<void>;
  /** Rejects with bodyTooSlow when the reservation is revoked. */
  readonly revoked: Promise<never>;
  readonly #leave: (reservation: Reservation) => void;
  #resolveGranted: () => void = () => {};
  #rejectRevoked: (error: Error) => void = () => {};
  #bytes = 0;
  /** Bytes at the last measurement; `undefined` before the first. */
  #measured: number | undefined;
  #isWhole = false;
  #isGranted = false;
  #isReleased = false;
  /** The response to the request whose body holds the reservation. */
  #response: ServerResponse | undefined;

  constructor(sender: Sender, size: number, leave: (reservation: Reservation) => void) {
    this.sender = sender;
    this.size = size;
    this.#leave = leave;
    this.granted = new Promise((resolve) => {
      this.#resolveGranted = resolve;
    });
    this.revoked = new Promise((_resolve, reject) => {
      this.#rejectRevoked = reject;
    });
    // Avoids an unhandled rejection: usually there is no listener any more.
    this.revoked.catch(() => {});
  }

  /** Whether the reservation has been granted. */
  get isGranted(): boolean {
    return this.#isGranted;
  }

  grant(): void {
    this.#isGranted = true;
    this.#resolveGranted();
  }

  /** Counts bytes received. */
  received(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Records that the body is complete. From now on the client can be slow only in reading the answer. */
  completed(): void {
    this.#isWhole = true;
    this.#measured = undefined;
  }

  /**
   * Releases the reservation when the answer has been written completely (a long one is then counted by `BufferedAnswers`) or the connection is
   * closed.
   */
  releaseWhenAnswered(response: ServerResponse): void {
    if (this.#isReleased) return;
    // The client has disconnected; no further events will come.
    if (response.destroyed) {
      this.release();
      return;
    }
    this.#response = response;
    for (const event of ['prefinish', 'close']) response.once(event, () => this.release());
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

  /** Revokes the reservation. If the body is complete, the connection is closed, because the answer has begun. */
  revoke(): void {
    if (this.#isWhole) this.#response?.destroy();
    else this.#rejectRevoked(serviceError('bodyTooSlow'));
    this.release();
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#response = undefined;
    this.#resolveGranted();
    this.#leave(this);
  }
}
