import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** How long the result of a probe is cached, for success and for failure. */
const READY_TTL_MS = 1_000;
const UNREADY_TTL_MS = 250;
/** Timeout of a probe. With the cache above, an outage is reported within two seconds. */
const PROBE_TIMEOUT_MS = 900;

/** Whether the store works, probed at most once per second (`/health/ready`). Reference: operations.md#health-checks. */
export class Readiness {
  readonly #probe: () => Promise<void>;
  #cached: { readonly isReady: boolean; readonly until: number } | undefined;
  #probing: Promise<boolean> | undefined;

  /** @param probe rejects if the store does not work */
  constructor(probe: () => Promise<void>) {
    this.#probe = probe;
  }

  isReady(): Promise<boolean> {
    if (this.#cached && performance.now() < this.#cached.until) return Promise.resolve(this.#cached.isReady);
    this.#probing ??= this.#runProbe();
    return this.#probing;
  }

  async #runProbe(): Promise<boolean> {
    const probe = this.#probe;
    const result = (async () => probe())().then(
      () => true,
      () => false,
    );
    const isReady = await Promise.race([result, timedOut(result)]);
    this.#cached = { isReady, until: performance.now() + (isReady ? READY_TTL_MS : UNREADY_TTL_MS) };
    this.#probing = undefined;
    return isReady;
  }
}

/** Resolves with false after the timeout, unless the probe succeeded while the event loop was busy. */
async function timedOut(result: Promise<boolean>): Promise<boolean> {
  const unanswered = Symbol('unanswered');
  await wait(PROBE_TIMEOUT_MS, undefined, { ref: false });
  // Timers run before sockets are read: after a long turn the result may need further turns to arrive.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  const answer = await Promise.race([result, Promise.resolve(unanswered)]);
  return answer === true;
}
