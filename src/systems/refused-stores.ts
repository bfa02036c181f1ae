import type { ServiceError } from '../errors/fail.ts';
import { type PassingFault, unavailableSince } from '../errors/system-faults.ts';
import type { Conditions } from '../observe/index.ts';
import { type Refusal, StoreRefused } from '../storage/identity.ts';

/** Milliseconds until a refused store is inspected again. */
const REINSPECT_DELAY_MS = 1_000;

/** Receives problems of stores. */
export interface StoreEvents {
  readonly conditions?: Pick<Conditions, 'met' | 'over'>;
  /** Acknowledged writes of a system may be missing. @param since milliseconds since 1970 */
  missing(appId: string, since: number): void;
}

interface Refused {
  /** Id of the system, which may be another one by now. */
  readonly id: string;
  readonly why: Refusal;
  readonly about: Readonly<Record<string, string>>;
  readonly error: ServiceError;
  /** By `performance.now()`. */
  readonly until: number;
}

const conditionOf: Readonly<Record<Refusal, PassingFault>> = {
  missing: 'the store is missing',
  empty: 'the store is empty',
  foreign: "the store is another system's",
  older: 'the store is older than the registry says',
  damaged: 'the store is damaged',
};

/** Stores that are not served, by application id. Each is inspected again soon, since it may have come back. */
export class RefusedStores {
  readonly #conditions: StoreEvents['conditions'];
  readonly #refused = new Map<string, Refused>();

  /** @param conditions called when a store begins and ends to be refused */
  constructor(conditions: StoreEvents['conditions']) {
    this.#conditions = conditions;
  }

  /** @param id of the system @throws unavailable if its store was refused a moment ago */
  check(appId: string, id: string): void {
    const refused = this.#refused.get(appId);
    if (refused && performance.now() < refused.until && refused.id === id) throw refused.error;
  }

  /** Remembers why a store is refused. @throws unavailable; the error itself if it is no refusal */
  refuse(appId: string, id: string, error: unknown): never {
    if (!(error instanceof StoreRefused)) throw error;
    const { place, why } = error;
    const about = { app: appId, store: place };
    const before = this.#refused.get(appId);
    if (before && before.why !== why) this.#conditions?.over(before.about);
    this.#conditions?.met(conditionOf[why], about);
    const unavailable = unavailableSince(error);
    this.#refused.set(appId, { id, why, about, error: unavailable, until: performance.now() + REINSPECT_DELAY_MS });
    throw unavailable;
  }

  /** The store is served, or its system is gone. */
  accept(appId: string): void {
    const before = this.#refused.get(appId);
    if (!before) return;
    this.#refused.delete(appId);
    this.#conditions?.over(before.about);
  }

  /** Accepts those of systems that are gone. */
  forget(isGone: (appId: string) => boolean): void {
    for (const appId of this.#refused.keys()) if (isGone(appId)) this.accept(appId);
  }
}
