import { MINUTE_MS } from '../kernel/time.ts';
import type { KeyUse, Registry } from '../storage/registry.ts';

/** Interval of writing uses to the registry, in milliseconds. */
const FLUSH_INTERVAL_MS = MINUTE_MS;

/** The last use of a key; `at` is 0 if it was not used since it was last written. */
type TrackedUse = { -readonly [K in keyof KeyUse]: KeyUse[K] };

/** Records when keys were last used: in memory with each request, in the registry once a minute. A crash loses the last minute. */
export class KeyUses {
  readonly #registry: Registry;
  readonly #timer: NodeJS.Timeout;
  #used = new Set<TrackedUse>();

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#timer = setInterval(() => void this.#flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** @returns a function that records a use of the key; each request calls it */
  of(appId: string, name: string): () => void {
    const noted: TrackedUse = { appId, name, at: 0 };
    return () => {
      if (noted.at === 0) this.#used.add(noted);
      noted.at = Date.now();
    };
  }

  /** Never fails: uses that could not be written are written the next time, unless newer ones replace them. */
  async #flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used];
    const uses: KeyUse[] = used.map((noted) => ({ ...noted }));
    this.#used = new Set();
    for (const noted of used) noted.at = 0;
    try {
      await this.#registry.recordKeyUses(uses);
    } catch {
      for (const [index, noted] of used.entries()) {
        noted.at ||= uses[index]?.at ?? 0;
        this.#used.add(noted);
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }
}
