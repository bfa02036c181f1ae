import { MINUTE_MS } from '../kernel/time.ts';
import type { Logger } from './log.ts';

/** Milliseconds: what comes back within them never ended. */
const FLICKER_MS = 5_000;
/** Milliseconds between two lines about a condition that lasts, and without being met after which one has ended that nobody asks about. */
const REPEAT_MS = MINUTE_MS;
/** Milliseconds between two looks whether a line is due. */
const TICK_MS = 1_000;
/** Conditions that are told of one by one at a time; what is met beyond is told of as one. */
const MAX_CONDITIONS = 200;
const BEYOND = 'more faults than are told of one by one';

/** Whose condition it is: the application id of a system, the name of a function. Short texts, never values of records. */
export type About = Readonly<Record<string, string | undefined>>;

interface Condition {
  readonly what: string;
  readonly about: About;
  /** By the clock of `Conditions`, as all times here. */
  readonly beganAt: number;
  metAt: number;
  toldAt: number;
  /** How often it was met. */
  count: number;
  /** When it was first seen to be over since it was last met. */
  overAt: number | undefined;
}

/**
 * Tells the log of conditions, not of each request that meets one (CONTRACT "Faults of the store"): a line when one begins, one a minute while
 * it lasts, one when it ends. A condition is one kind of fault of one system.
 */
export class Conditions {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #conditions = new Map<string, Condition>();
  #timer: NodeJS.Timeout | undefined;

  /** @param now milliseconds that only grow */
  constructor(log: Logger, now = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /**
   * A fault was met.
   * @param what its kind, in a few words: the same for the same kind
   * @param error is told when the condition begins
   */
  met(what: string, about: About = {}, error?: unknown): void {
    const key = keyOf(what, about);
    const now = this.#now();
    const known = this.#conditions.get(key);
    if (known) {
      known.count++;
      known.metAt = now;
      known.overAt = undefined;
      return;
    }
    if (this.#conditions.size >= MAX_CONDITIONS && what !== BEYOND) {
      this.met(BEYOND, {}, error);
      return;
    }
    this.#conditions.set(key, { what, about, beganAt: now, metAt: now, toldAt: now, count: 1, overAt: undefined });
    this.#log.error({ condition: what, ...about, ...(error === undefined ? {} : { err: error }) }, `${what}: began`);
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
  }

  /** What the fault was about works again. @param what all kinds where it is left out */
  over(about: About, what?: string): void {
    if (this.#conditions.size === 0) return;
    const key = keyOf('', about);
    for (const condition of this.#conditions.values())
      if ((what === undefined || condition.what === what) && keyOf('', condition.about) === key) condition.overAt ??= this.#now();
  }

  #look(): void {
    const now = this.#now();
    for (const [key, condition] of this.#conditions) {
      const { what, about, count, beganAt, metAt, overAt } = condition;
      const told = { condition: what, ...about, count };
      const isEnded = overAt === undefined ? now - metAt >= REPEAT_MS : now - overAt >= FLICKER_MS;
      if (isEnded) {
        this.#conditions.delete(key);
        this.#log.warn({ ...told, ms: Math.round((overAt ?? metAt) - beganAt) }, `${what}: ended`);
      } else if (now - condition.toldAt >= REPEAT_MS) {
        condition.toldAt = now;
        this.#log.error({ ...told, ms: Math.round(now - beganAt) }, `${what}: goes on`);
      }
    }
    if (this.#conditions.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Tells nothing more. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#conditions.clear();
  }
}

const keyOf = (what: string, about: About): string => `${what}\n${JSON.stringify(about)}`;
