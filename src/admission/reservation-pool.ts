import { LRUCache } from 'lru-cache';
import { minBytesIn, PACE_INTERVAL_MS } from './pace.ts';
import { Reservation, type Sender } from './reservation.ts';

/** The capacity, and the shares of it that one system and one caller may hold, so that others find room however slow their bodies are. */
export interface Bounds {
  readonly all: number;
  readonly ofSystem: number;
  readonly ofCaller: number;
}

/** Callers for which the time of the last grant is remembered. */
const MAX_REMEMBERED_CALLERS = 10_000;

/** Admission control for request bodies, in memory or on disk. A body that finds no room waits unread (adr/0017). */
export class ReservationPool {
  readonly #bounds: Bounds;
  readonly #interval: number;
  /** By sender, in order of arrival. */
  readonly #waiting = new Map<string, Set<Reservation>>();
  readonly #held = new Set<Reservation>();
  #used = 0;
  readonly #bySystem = new Tally();
  readonly #byCaller = new Tally();
  /** Number of the last grant, by caller. */
  readonly #served = new LRUCache<string, number>({ max: MAX_REMEMBERED_CALLERS });
  #grants = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bounds: Bounds, interval = PACE_INTERVAL_MS) {
    this.#bounds = bounds;
    this.#interval = interval;
  }

  /** Requests a reservation. The caller must release it, whether it was granted or not. @param size units of capacity */
  request(sender: Sender, size = 1): Reservation {
    const { all, ofSystem, ofCaller } = this.#bounds;
    const reservation = new Reservation(sender, Math.min(size, all, ofSystem, ofCaller), (one) => this.#leave(one));
    if (this.#waiting.size === 0 && this.#hasRoom(reservation)) {
      this.#grant(reservation);
      return reservation;
    }
    const key = lineOf(sender);
    const line = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, line.add(reservation));
    this.#fill();
    return reservation;
  }

  #leave(reservation: Reservation): void {
    if (this.#held.delete(reservation)) this.#count(reservation, -reservation.size);
    else if (!this.#leaveLine(reservation)) return;
    this.#fill();
  }

  #leaveLine(reservation: Reservation): boolean {
    const key = lineOf(reservation.sender);
    const line = this.#waiting.get(key);
    if (!line?.delete(reservation)) return false;
    if (line.size === 0) this.#waiting.delete(key);
    return true;
  }

  #count({ sender }: Reservation, size: number): void {
    this.#used += size;
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

  #grant(reservation: Reservation): void {
    this.#held.add(reservation);
    this.#count(reservation, reservation.size);
    this.#served.set(reservation.sender.caller, ++this.#grants);
    reservation.grant();
  }

  #hasRoom(reservation: Reservation): boolean {
    return this.#beyond(reservation) === null && this.#used + reservation.size <= this.#bounds.all;
  }

  /**
   * Picks by least held by the system, then least held by the caller, then the oldest last grant, then arrival. A large request is not skipped when
   * it does not fit yet; otherwise small ones would starve it.
   */
  #next(): Reservation | undefined {
    let first: Reservation | undefined;
    for (const reservation of this.#heads()) {
      if (this.#beyond(reservation) !== null) continue;
      if (!first || this.#order(reservation, first) < 0) first = reservation;
    }
    return first && this.#used + first.size <= this.#bounds.all ? first : undefined;
  }

  /** The first request of each line. */
  *#heads(): IterableIterator<Reservation> {
    for (const [head] of this.#waiting.values()) if (head) yield head;
  }

  /** Returns whose share is used up; `null` if only the total capacity can be in the way. */
  #beyond({ sender, size }: Reservation): 'caller' | 'system' | null {
    if (this.#byCaller.of(sender.caller) + size > this.#bounds.ofCaller) return 'caller';
    return this.#bySystem.of(sender.system) + size > this.#bounds.ofSystem ? 'system' : null;
  }

  #order({ sender: one }: Reservation, { sender: other }: Reservation): number {
    return (
      this.#bySystem.of(one.system) - this.#bySystem.of(other.system) ||
      this.#byCaller.of(one.caller) - this.#byCaller.of(other.caller) ||
      (this.#served.get(one.caller) ?? 0) - (this.#served.get(other.caller) ?? 0)
    );
  }

  #startWatch(): void {
    if (this.#timer) return;
    for (const reservation of this.#held) reservation.measure();
    this.#timer = setInterval(() => this.#revokeSlow(), this.#interval);
    this.#timer.unref();
  }

  #stopWatch(): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const reservation of this.#held) reservation.forget();
  }

  #revokeSlow(): void {
    const minBytes = minBytesIn(this.#interval);
    const isInTheWay = this.#findBlocking();
    for (const reservation of [...this.#held])
      if (reservation.measure() < minBytes && isInTheWay(reservation)) reservation.revoke();
  }

  /**
   * Returns a predicate for reservations that block waiting requests. A caller at its own limit is blocked by its own reservations; otherwise by
   * those of callers that hold at least as much as the waiting one.
   */
  #findBlocking(): (reservation: Reservation) => boolean {
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
