import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** Milliseconds that an answer of the store is remembered: one that it works, and one that it does not. */
const READY_FOR_MS = 1_000;
const UNREADY_FOR_MS = 250;
/** Milliseconds that the store may take. With the above an outage is told of within two seconds. */
const PROBE_TIMEOUT_MS = 900;

/** Whether the store works, asked at most once a second (CONTRACT "Operations": `/health/ready`). */
export class Readiness {
  readonly #probe: () => Promise<void>;
  #known: { readonly isReady: boolean; readonly until: number } | undefined;
  #asking: Promise<boolean> | undefined;

  /** @param probe rejects where the store does not work */
  constructor(probe: () => Promise<void>) {
    this.#probe = probe;
  }

  isReady(): Promise<boolean> {
    if (this.#known && performance.now() < this.#known.until) return Promise.resolve(this.#known.isReady);
    this.#asking ??= this.#ask();
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    const probe = this.#probe;
    const asked = (async () => probe())().then(
      () => true,
      () => false,
    );
    const isReady = await Promise.race([asked, tooLate(asked)]);
    this.#known = { isReady, until: performance.now() + (isReady ? READY_FOR_MS : UNREADY_FOR_MS) };
    this.#asking = undefined;
    return isReady;
  }
}

/** False once the time is up. An answer that has come while the event loop was busy counts. */
async function tooLate(asked: Promise<boolean>): Promise<boolean> {
  const unanswered = Symbol('unanswered');
  await wait(PROBE_TIMEOUT_MS, undefined, { ref: false });
  // Timers come before sockets: after a long turn of the event loop it takes one more to read them.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  const answer = await Promise.race([asked, Promise.resolve(unanswered)]);
  return answer === true;
}
