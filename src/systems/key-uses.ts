import { MINUTE_MS } from '../kernel/time.ts';
import type { KeyUse, Registry } from '../storage/registry.ts';

/** How often what was noted is written down, in milliseconds. */
const FLUSH_INTERVAL_MS = MINUTE_MS;

/** A key that is used; `at` is 0 where it was not since it was last written down. */
type Noted = { -readonly [K in keyof KeyUse]: KeyUse[K] };

/** When keys were last used: noted in memory with each request, written down once a minute. A crash loses the last minute. */
export class KeyUses {
  readonly #registry: Registry;
  readonly #timer: NodeJS.Timeout;
  #used = new Set<Noted>();

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#timer = setInterval(() => void this.#flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** @returns what notes a use of the key; each request calls it */
  of(appId: string, name: string): () => void {
    const noted: Noted = { appId, name, at: 0 };
    return () => {
      if (noted.at === 0) this.#used.add(noted);
      noted.at = Date.now();
    };
  }

  /** Never fails: what could not be written is written the next time, unless the key was used again. */
  async #flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used];
    const uses: KeyUse[] = used.map((noted) => ({ ...noted }));
    this.#used = new Set();
    for (const noted of used) noted.at = 0;
    try {
      await this.#registry.noteUses(uses);
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
