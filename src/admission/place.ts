import type { ServerResponse } from 'node:http';
import { serviceError } from '../errors/fail.ts';

/** Whose body it is: nobody is to keep all others waiting. */
export interface Sender {
  /** Empty where nobody is named yet; all of those count as one. */
  readonly system: string;
  /** A key, a user or a network; what is meant to count for itself in each system has its name in the text. */
  readonly caller: string;
}

/** Milliseconds that a body which is whole keeps its place at most: what a call may take, however slowly its answer is taken. */
const LONGEST_WHOLE_MS = 60_000;

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
  #lastMoment: NodeJS.Timeout | undefined;

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

  /** Tells that the body has come whole: its sender is not waited for any more, and its place is kept for the time that a call may take. */
  ended(): void {
    this.#isWhole = true;
    if (!this.#isFree) this.#lastMoment = setTimeout(() => this.free(), LONGEST_WHOLE_MS).unref();
  }

  /** Bytes since the last measure; without end at the first one, and where nothing more is to come. */
  measure(): number {
    const since = this.#isWhole || this.#measured === undefined ? Number.POSITIVE_INFINITY : this.#bytes - this.#measured;
    this.#measured = this.#bytes;
    return since;
  }

  /** Has the next measure be the first. */
  forget(): void {
    this.#measured = undefined;
  }

  take(): void {
    this.#take(serviceError('bodyTooSlow'));
    this.free();
  }

  free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    // It would keep the whole request in memory.
    clearTimeout(this.#lastMoment);
    this.#give();
    this.#leave(this);
  }
}

/** Has the place of a body free once its request is answered. */
export function freeWhenAnswered(place: Place, response: ServerResponse): void {
  for (const event of ['prefinish', 'close']) response.once(event, () => place.free());
}
