/** Storage reserved by a policy. */
interface Reservation {
  readonly size: number;
  /** Expiry of the policy, on the clock of `Date.now()`. */
  readonly until: number;
}

/** The policies of a caller in order of expiry, and the sum of their bytes. */
interface CallerReservations {
  readonly policies: Map<string, Reservation>;
  bytes: number;
}

/**
 * Bytes reserved by policies of this process whose uploads have not arrived. Without this, many policies that fit the quota individually could exceed
 * it together.
 */
export class ReservedBytes {
  readonly #lifetime: number;
  readonly #callers = new Map<string, CallerReservations>();
  /** The caller by file. */
  readonly #callerOfFile = new Map<string, string>();

  /** @param lifetime of a policy, in milliseconds */
  constructor(lifetime: number) {
    this.#lifetime = lifetime;
  }

  /**
   * @param caller including the system; reservations of one caller do not affect others
   * @param file including the system
   * @returns the bytes reserved by the caller, including these
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
    this.#callerOfFile.set(file, caller);
    return own.bytes;
  }

  /** Releases the reservation of a file that has arrived, or will not arrive. */
  remove(file: string): void {
    const caller = this.#callerOfFile.get(file) ?? '';
    const own = this.#callers.get(caller);
    const reservation = own?.policies.get(file);
    this.#callerOfFile.delete(file);
    if (!own || !reservation) return;
    own.policies.delete(file);
    own.bytes -= reservation.size;
    if (own.policies.size === 0) this.#callers.delete(caller);
  }
}
