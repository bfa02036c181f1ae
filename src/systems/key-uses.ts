import type { KeyUse, Registry } from '../storage/registry.ts';

/** How often what was noted is written down, in milliseconds. */
const FLUSH_EVERY = 60_000;

/** When keys were last used: noted in memory with each request, written down once a minute. A crash loses the last minute. */
export class KeyUses {
  readonly #registry: Registry;
  readonly #timer: NodeJS.Timeout;
  #uses = new Map<string, Map<string, number>>();

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#timer = setInterval(() => void this.#flush(), FLUSH_EVERY).unref();
  }

  /** @returns what notes a use of a key of the system, by its name */
  of(appId: string): (name: string) => void {
    return (name) => {
      const known = this.#uses.get(appId);
      if (known) known.set(name, Date.now());
      else this.#uses.set(appId, new Map([[name, Date.now()]]));
    };
  }

  /** Never fails: what could not be written is written the next time, unless the key was used again. */
  async #flush(): Promise<void> {
    const uses = [...this.#uses].flatMap(([appId, keys]) => [...keys].map(([name, at]): KeyUse => ({ appId, name, at })));
    if (uses.length === 0) return;
    this.#uses = new Map();
    try {
      await this.#registry.noteUses(uses);
    } catch {
      for (const { appId, name, at } of uses) {
        const keys = this.#uses.get(appId) ?? new Map<string, number>();
        if (!keys.has(name)) keys.set(name, at);
        this.#uses.set(appId, keys);
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }
}
