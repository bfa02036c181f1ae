import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Unreachable } from '../../storage/engine.ts';

/** How long the result of a probe is cached, for success and for failure. */
const READY_TTL_MS = 1_000;
const UNREADY_TTL_MS = 250;
/** Timeout of a probe. With the cache above, an outage is reported within two seconds. */
const PROBE_TIMEOUT_MS = 900;

/** Whether the store works, probed at most once per second (`/health/ready`). Reference: operations.md#health-checks. */
export class Readiness {
  readonly #probe: () => Promise<Unreachable>;
  #cached: { readonly found: Unreachable | null; readonly until: number } | undefined;
  #probing: Promise<Unreachable | null> | undefined;

  /** @param probe rejects if the store does not work */
  constructor(probe: () => Promise<Unreachable>) {
    this.#probe = probe;
  }

  /** Returns what of the store cannot be reached although it works; `null` if it does not work. */
  check(): Promise<Unreachable | null> {
    if (this.#cached && performance.now() < this.#cached.until) return Promise.resolve(this.#cached.found);
    this.#probing ??= this.#runProbe();
    return this.#probing;
  }

  async #runProbe(): Promise<Unreachable | null> {
    const probe = this.#probe;
    const result = (async () => probe())().catch(() => null);
    const found = await Promise.race([result, timedOut(result)]);
    this.#cached = { found, until: performance.now() + (found ? READY_TTL_MS : UNREADY_TTL_MS) };
    this.#probing = undefined;
    return found;
  }
}

/** Resolves with `null` after the timeout, unless the probe succeeded while the event loop was busy. */
async function timedOut(result: Promise<Unreachable | null>): Promise<Unreachable | null> {
  await wait(PROBE_TIMEOUT_MS, undefined, { ref: false });
  // Timers run before sockets are read: after a long turn the result may need further turns to arrive.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  return Promise.race([result, Promise.resolve(null)]);
}
