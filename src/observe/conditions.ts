import { MINUTE_MS } from '../kernel/time.ts';
import type { Logger } from './log.ts';

/** A condition that returns within this time, in milliseconds, has not ended. */
const FLICKER_MS = 5_000;
/**
 * Interval, in milliseconds, of lines about a lasting condition; also the time without being met after which one ends that nothing ends explicitly.
 */
const REPEAT_MS = MINUTE_MS;
/** Interval of checking whether a line is due, in milliseconds. */
const TICK_MS = 1_000;
/** Maximum number of conditions reported separately; further ones are reported as one. */
const MAX_CONDITIONS = 200;
const BEYOND = 'more faults than are told of one by one';

/** The subject of a condition: the application id of a system, the name of a function. Short texts, never values of records. */
export type About = Readonly<Record<string, string | undefined>>;

interface Condition {
  readonly what: string;
  readonly about: About;
  /** By the clock of `Conditions`, as all times here. */
  readonly beganAt: number;
  metAt: number;
  loggedAt: number;
  /** How often it was met. */
  count: number;
  /** When it was first reported as over since it was last met. */
  overAt: number | undefined;
}

/**
 * Logs conditions, not each request that meets one: a line when one begins, one a minute while it lasts, one when it ends. A condition is one
 * kind of fault of one system. Reference: faults.md#conditions-in-the-log.
 */
export class Conditions {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #conditions = new Map<string, Condition>();
  #timer: NodeJS.Timeout | undefined;

  /** @param now monotonic milliseconds */
  constructor(log: Logger, now = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /**
   * Reports that a fault was met.
   * @param what its kind, in a few words: the same for the same kind
   * @param error logged when the condition begins
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
    this.#conditions.set(key, { what, about, beganAt: now, metAt: now, loggedAt: now, count: 1, overAt: undefined });
    this.#log.error({ condition: what, ...about, ...(error === undefined ? {} : { err: error }) }, `${what}: began`);
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
  }

  /** Reports that the subject works again. @param what the kind of fault; left out: all kinds */
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
      const fields = { condition: what, ...about, count };
      const isEnded = overAt === undefined ? now - metAt >= REPEAT_MS : now - overAt >= FLICKER_MS;
      if (isEnded) {
        this.#conditions.delete(key);
        this.#log.warn({ ...fields, ms: Math.round((overAt ?? metAt) - beganAt) }, `${what}: ended`);
      } else if (now - condition.loggedAt >= REPEAT_MS) {
        condition.loggedAt = now;
        this.#log.error({ ...fields, ms: Math.round(now - beganAt) }, `${what}: goes on`);
      }
    }
    if (this.#conditions.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Stops logging. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#conditions.clear();
  }
}

const keyOf = (what: string, about: About): string => `${what}\n${JSON.stringify(about)}`;
