import { LRUCache } from 'lru-cache';
import { minBytesIn, PACE_INTERVAL_MS } from './pace.ts';
import { Place, type Sender } from './place.ts';

/** The capacity, and the shares of it that one system and one caller may hold, so that others find room however slow their bodies are. */
export interface Bounds {
  readonly all: number;
  readonly ofSystem: number;
  readonly ofCaller: number;
}

/** Callers for which the time of the last grant is remembered. */
const MAX_REMEMBERED_CALLERS = 10_000;

/** Admission control for request bodies, in memory or on disk. A body that finds no room waits unread (adr/0017). */
export class Places {
  readonly #bounds: Bounds;
  readonly #interval: number;
  /** By sender, in order of arrival. */
  readonly #waiting = new Map<string, Set<Place>>();
  readonly #held = new Set<Place>();
  #taken = 0;
  readonly #bySystem = new Tally();
  readonly #byCaller = new Tally();
  /** Number of the last grant, by caller. */
  readonly #served = new LRUCache<string, number>({ max: MAX_REMEMBERED_CALLERS });
  #given = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bounds: Bounds, interval = PACE_INTERVAL_MS) {
    this.#bounds = bounds;
    this.#interval = interval;
  }

  /** Requests a place. The caller must free it, whether it was granted or not. @param size units of capacity */
  ask(sender: Sender, size = 1): Place {
    const { all, ofSystem, ofCaller } = this.#bounds;
    const place = new Place(sender, Math.min(size, all, ofSystem, ofCaller), (one) => this.#leave(one));
    if (this.#waiting.size === 0 && this.#hasRoom(place)) {
      this.#grant(place);
      return place;
    }
    const key = lineOf(sender);
    const line = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, line.add(place));
    this.#fill();
    return place;
  }

  #leave(place: Place): void {
    if (this.#held.delete(place)) this.#count(place, -place.size);
    else if (!this.#leaveLine(place)) return;
    this.#fill();
  }

  #leaveLine(place: Place): boolean {
    const key = lineOf(place.sender);
    const line = this.#waiting.get(key);
    if (!line?.delete(place)) return false;
    if (line.size === 0) this.#waiting.delete(key);
    return true;
  }

  #count({ sender }: Place, size: number): void {
    this.#taken += size;
    this.#bySystem.add(sender.system, size);
    this.#byCaller.add(sender.caller, size);
  }

  #fill(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#leaveLine(next);
      this.#grant(next);
    }
    if (this.#waiting.size > 0) this.#startWatch();
    else this.#stopWatch();
    if (this.#held.size === 0) this.#served.clear();
  }

  #grant(place: Place): void {
    this.#held.add(place);
    this.#count(place, place.size);
    this.#served.set(place.sender.caller, ++this.#given);
    place.grant();
  }

  #hasRoom(place: Place): boolean {
    return this.#beyond(place) === null && this.#taken + place.size <= this.#bounds.all;
  }

  /**
   * Picks by least held by the system, then least held by the caller, then the oldest last grant, then arrival. A large request is not skipped when
   * it does not fit yet; otherwise small ones would starve it.
   */
  #next(): Place | undefined {
    let first: Place | undefined;
    for (const place of this.#heads()) {
      if (this.#beyond(place) !== null) continue;
      if (!first || this.#order(place, first) < 0) first = place;
    }
    return first && this.#taken + first.size <= this.#bounds.all ? first : undefined;
  }

  /** The first request of each line. */
  *#heads(): IterableIterator<Place> {
    for (const [head] of this.#waiting.values()) if (head) yield head;
  }

  /** Returns whose share is used up; `null` if only the total capacity can be in the way. */
  #beyond({ sender, size }: Place): 'caller' | 'system' | null {
    if (this.#byCaller.of(sender.caller) + size > this.#bounds.ofCaller) return 'caller';
    return this.#bySystem.of(sender.system) + size > this.#bounds.ofSystem ? 'system' : null;
  }

  #order({ sender: one }: Place, { sender: other }: Place): number {
    return (
      this.#bySystem.of(one.system) - this.#bySystem.of(other.system) ||
      this.#byCaller.of(one.caller) - this.#byCaller.of(other.caller) ||
      (this.#served.get(one.caller) ?? 0) - (this.#served.get(other.caller) ?? 0)
    );
  }

  #startWatch(): void {
    if (this.#timer) return;
    for (const place of this.#held) place.measure();
    this.#timer = setInterval(() => this.#revokeSlow(), this.#interval);
    this.#timer.unref();
  }

  #stopWatch(): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const place of this.#held) place.forget();
  }

  #revokeSlow(): void {
    const minBytes = minBytesIn(this.#interval);
    const isInTheWay = this.#findBlocking();
    for (const place of [...this.#held]) if (place.measure() < minBytes && isInTheWay(place)) place.take();
  }

  /**
   * Returns a predicate for places that block waiting requests. A caller at its own limit is blocked by its own places; otherwise by those of callers
   * that hold at least as much as the waiting one.
   */
  #findBlocking(): (place: Place) => boolean {
    const callers = new Set<string>();
    const minHeldOf = new Map<string, number>();
    let minHeld = Number.POSITIVE_INFINITY;
    for (const head of this.#heads()) {
      const { system, caller } = head.sender;
      const beyond = this.#beyond(head);
      const has = this.#byCaller.of(caller);
      if (beyond === 'caller') callers.add(caller);
      else if (beyond === 'system') minHeldOf.set(system, Math.min(has, minHeldOf.get(system) ?? has));
      else minHeld = Math.min(minHeld, has);
    }
    return ({ sender: { system, caller } }) =>
      callers.has(caller) || this.#byCaller.of(caller) >= Math.min(minHeld, minHeldOf.get(system) ?? minHeld);
  }
}

/** Sums by key. Keys with a sum of 0 are removed. */
class Tally {
  readonly #sums = new Map<string, number>();

  of(key: string): number {
    return this.#sums.get(key) ?? 0;
  }

  add(key: string, size: number): void {
    const sum = this.of(key) + size;
    if (sum > 0) this.#sums.set(key, sum);
    else this.#sums.delete(key);
  }
}

const lineOf = ({ system, caller }: Sender): string => JSON.stringify([system, caller]);
