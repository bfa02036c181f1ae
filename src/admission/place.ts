import type { ServerResponse } from 'node:http';
import { serviceError } from '../errors/fail.ts';
import { takenBytes } from './pace.ts';

/** Bytes of a body that anybody may send without a place: the usual request, however many of them there are. */
export const FREE_BYTES = 16 * 1024;

/** Whose body it is: nobody is to keep all others waiting. */
export interface Sender {
  /** Empty where nobody is named yet; all of those count as one. */
  readonly system: string;
  /** A key, a user or a network; what is meant to count for itself in each system has its name in the text. */
  readonly caller: string;
}

/** A place that was asked for. */
export class Place {
  readonly sender: Sender;
  readonly size: number;
  /** Fulfilled when the place is given, or freed before. */
  readonly given: Promise<void>;
  /** Rejects with bodyTooSlow when the place is taken away. */
  readonly taken: Promise<never>;
  readonly #leave: (place: Place) => void;
  #give: () => void = () => {};
  #take: (error: Error) => void = () => {};
  #bytes = 0;
  /** Bytes at the last measure; `undefined` before the first. */
  #measured: number | undefined;
  #isWhole = false;
  #isGiven = false;
  #isFree = false;
  /** Where the answer goes to the request whose body it is. */
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
    // Mostly nobody listens any more.
    this.taken.catch(() => {});
  }

  /** Whether nobody has to wait for it. */
  get isGiven(): boolean {
    return this.#isGiven;
  }

  give(): void {
    this.#isGiven = true;
    this.#give();
  }

  /** Tells that so many bytes have come. */
  came(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Tells that the body has come whole: its sender is waited for only where he does not take the answer. */
  ended(): void {
    this.#isWhole = true;
    this.#measured = undefined;
  }

  /** Has it free once the whole answer is made, which counts for itself where it is long (`UntakenAnswers`), or the client is gone. */
  freeWhenAnswered(response: ServerResponse): void {
    if (this.#isFree) return;
    // The client has gone meanwhile: nothing more is told of him.
    if (response.destroyed) {
      this.free();
      return;
    }
    this.#response = response;
    for (const event of ['prefinish', 'close']) response.once(event, () => this.free());
  }

  /** Bytes since the last measure, of the body or the answer; without end at the first one, and where the client is not waited for. */
  measure(): number {
    const bytes = this.#isWhole ? this.#answered() : this.#bytes;
    const since = this.#measured === undefined ? Number.POSITIVE_INFINITY : bytes - this.#measured;
    this.#measured = Number.isFinite(bytes) ? bytes : undefined;
    return since;
  }

  #answered(): number {
    return this.#response ? takenBytes(this.#response) : Number.POSITIVE_INFINITY;
  }

  /** Has the next measure be the first. */
  forget(): void {
    this.#measured = undefined;
  }

  /** Takes it away: of a body that is whole the connection, whose answer has begun. */
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
