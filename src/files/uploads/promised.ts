/** What a policy has promised room for. */
interface Promised {
  readonly size: number;
  /** When the policy ends, by `Date.now()`. */
  readonly until: number;
}

/** The policies of a caller, in the order in which they end, and the bytes of all of them. */
interface OfCaller {
  readonly policies: Map<string, Promised>;
  bytes: number;
}

/** Bytes that policies of this process have promised room for and that have not come: many at once would pass a quota that each of them fits. */
export class PromisedBytes {
  readonly #lifetime: number;
  readonly #callers = new Map<string, OfCaller>();
  /** By file, who asked for its policy. */
  readonly #askers = new Map<string, string>();

  /** @param lifetime milliseconds of a policy */
  constructor(lifetime: number) {
    this.#lifetime = lifetime;
  }

  /**
   * @param caller in one text with his system: nobody's promises shut out others
   * @param file in one text with its system
   * @returns the bytes that the caller is promised, these too
   */
  add(caller: string, file: string, size: number): number {
    const own = this.#callers.get(caller) ?? { policies: new Map(), bytes: 0 };
    const now = Date.now();
    for (const [ended, { until }] of own.policies) {
      if (until > now) break;
      this.remove(ended);
    }
    own.policies.set(file, { size, until: now + this.#lifetime });
    own.bytes += size;
    this.#callers.set(caller, own);
    this.#askers.set(file, caller);
    return own.bytes;
  }

  /** Tells that the bytes have come, or will not. */
  remove(file: string): void {
    const caller = this.#askers.get(file) ?? '';
    const own = this.#callers.get(caller);
    const promised = own?.policies.get(file);
    this.#askers.delete(file);
    if (!own || !promised) return;
    own.policies.delete(file);
    own.bytes -= promised.size;
    if (own.policies.size === 0) this.#callers.delete(caller);
  }
}
