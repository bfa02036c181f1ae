/** What a policy has promised room for. */
interface Promised {
  readonly size: number;
  /** When the policy ends, by `Date.now()`. */
  readonly until: number;
}

/** The policies of a system, in the order in which they end, and the bytes of all of them. */
interface OfSystem {
  readonly policies: Map<string, Promised>;
  bytes: number;
}

/** Bytes that policies of this process have promised room for and that have not come: many at once would pass a quota that each of them fits. */
export class PromisedBytes {
  readonly #lifetime: number;
  readonly #systems = new Map<string, OfSystem>();

  /** @param lifetime milliseconds of a policy */
  constructor(lifetime: number) {
    this.#lifetime = lifetime;
  }

  /** @returns the bytes that are promised, these too */
  add(appId: string, id: string, size: number): number {
    const system = this.#systems.get(appId) ?? { policies: new Map(), bytes: 0 };
    const now = Date.now();
    for (const [ended, { until }] of system.policies) {
      if (until > now) break;
      this.remove(appId, ended);
    }
    system.policies.set(id, { size, until: now + this.#lifetime });
    system.bytes += size;
    this.#systems.set(appId, system);
    return system.bytes;
  }

  /** Tells that the bytes have come, or will not. */
  remove(appId: string, id: string): void {
    const system = this.#systems.get(appId);
    const promised = system?.policies.get(id);
    if (!system || !promised) return;
    system.policies.delete(id);
    system.bytes -= promised.size;
    if (system.policies.size === 0) this.#systems.delete(appId);
  }
}
