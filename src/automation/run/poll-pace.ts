import type { System } from '../../systems/index.ts';

/** Interval in milliseconds at which an open system that is not used is polled, on an engine that then looks at its file. Only commands write to it. */
const UNUSED_INTERVAL_MS = 5_000;

/** Decides which open systems a poll looks at, so that a service with many unused ones needs little processor time. */
export class PollPace {
  /** When systems were looked at, and how often they had been used by then. */
  readonly #looks = new WeakMap<System, { readonly at: number; readonly uses: number }>();

  /** Yields the systems that are to be looked at now. */
  *due(systems: Iterable<System>): IterableIterator<System> {
    for (const system of systems) if (this.#isDue(system)) yield system;
  }

  #isDue(system: System): boolean {
    if (!system.store.cluster.noticesAllWrites) return true;
    const { uses } = system;
    const now = performance.now();
    const last = this.#looks.get(system);
    if (last?.uses === uses && now - last.at < UNUSED_INTERVAL_MS) return false;
    this.#looks.set(system, { at: now, uses });
    return true;
  }
}
