import { serviceError } from '../../errors/fail.ts';

/** Whose body it is: nobody is to keep all others waiting. */
export interface Sender {
  readonly system: string;
  /** A key or a user; those of two systems never have the same text. */
  readonly caller: string;
}

/** Long bodies that are in memory at once, each several times: as it came, as text, as values. Others wait, unread. */
const AT_ONCE = 4;
/** How many of these one system and one caller may have: others find a place however long theirs take. */
const OF_SYSTEM = AT_ONCE - 1;
const OF_CALLER = AT_ONCE - 2;
/** More than ever are given: how many one has now counts before when he was given the last. */
const TURNS = 2 ** 40;
/** Bytes a second that a body comes with at least while others wait, and the milliseconds over which it is measured. */
const LEAST_PACE = 64 * 1024;
const INTERVAL = 5_000;

/** The places that long bodies take in memory. */
export class Places {
  readonly #interval: number;
  readonly #waiting = new Set<Place>();
  readonly #held = new Set<Place>();
  /** Callers by when they were given a place last, as long as somebody waits or has one. */
  readonly #served = new Map<string, number>();
  #given = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(interval = INTERVAL) {
    this.#interval = interval;
  }

  /** Asks for a place, which is to be freed whether it was given or not. */
  ask(sender: Sender): Place {
    const place = new Place(sender, (one) => this.#leave(one));
    this.#waiting.add(place);
    this.#fill();
    return place;
  }

  #leave(place: Place): void {
    this.#waiting.delete(place);
    this.#held.delete(place);
    this.#fill();
  }

  #fill(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.delete(next);
      this.#held.add(next);
      this.#served.set(next.sender.caller, ++this.#given);
      next.give();
    }
    if (this.#waiting.size > 0) this.#startWatch();
    else this.#stopWatch();
    if (this.#held.size === 0) this.#served.clear();
  }

  /** Who has the fewest places comes first, then who was given one the longest ago, then who has waited longest. */
  #next(): Place | undefined {
    if (this.#held.size >= AT_ONCE) return undefined;
    let first: Place | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const place of this.#waiting) {
      const { system, caller } = place.sender;
      const ofSystem = this.#count((sender) => sender.system === system);
      const ofCaller = this.#count((sender) => sender.caller === caller);
      const rank = (ofSystem * AT_ONCE + ofCaller) * TURNS + (this.#served.get(caller) ?? 0);
      if (ofSystem >= OF_SYSTEM || ofCaller >= OF_CALLER || rank >= least) continue;
      first = place;
      least = rank;
    }
    return first;
  }

  #count(isOne: (sender: Sender) => boolean): number {
    let count = 0;
    for (const { sender } of this.#held) if (isOne(sender)) count++;
    return count;
  }

  #startWatch(): void {
    if (this.#timer) return;
    for (const place of this.#held) place.measure();
    this.#timer = setInterval(() => this.#endSlow(), this.#interval);
    this.#timer.unref();
  }

  #stopWatch(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const place of this.#held) place.forget();
  }

  #endSlow(): void {
    const least = (LEAST_PACE * this.#interval) / 1_000;
    for (const place of [...this.#held]) if (place.measure() < least) place.take();
  }
}

/** A place that was asked for. */
export class Place {
  readonly sender: Sender;
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

  constructor(sender: Sender, leave: (place: Place) => void) {
    this.sender = sender;
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

  give(): void {
    this.#give();
  }

  /** Tells that so many bytes have come. */
  came(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Tells that the body has ended: its sender is not waited for any more. */
  ended(): void {
    this.#isWhole = true;
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
    this.#give();
    this.#leave(this);
  }
}
