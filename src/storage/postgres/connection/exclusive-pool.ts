import { serviceError } from '../../../errors/fail.ts';
import type { Connector, SessionLimits } from './connect.ts';
import { unavailable } from './map-error.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

interface Waiter {
  readonly system: string | null;
  take(link: PipelinedConnection): void;
  fail(error: unknown): void;
}

/** A connection in use. */
export interface Lease {
  readonly link: PipelinedConnection;
  /** Gives it back, or leaves it where it was lost. */
  release(): void;
}

/** How a group is made. */
export interface ExclusivePoolSettings {
  readonly connector: Connector;
  readonly size: number;
  readonly limits: SessionLimits;
  /** Longest wait for a connection, in milliseconds. */
  readonly maxWaitMs: number;
  /** The error after this wait. */
  readonly tooLong: 'timeout' | 'unavailable';
}

/** Milliseconds for which a connection counts as alive that was heard: after them it proves it before it is used, since lines die silently. */
const ALIVE_FOR_MS = 15_000;
/** Milliseconds within which it has to. */
export const PROOF_LIMIT_MS = 1000;

/**
 * Connections that one caller has at a time. The system with the fewest of them comes first, then the first to ask; a system has all but
 * one at the most.
 */
export class ExclusivePool {
  readonly #settings: ExclusivePoolSettings;
  readonly #idle: PipelinedConnection[] = [];
  readonly #held = new Map<string, number>();
  readonly #links = new Set<PipelinedConnection>();
  #connecting = 0;
  /** Links that have not been used for a while, and are about to be. */
  #proving = 0;
  #waiting: Waiter[] = [];
  #closed = false;
  #onReturn: (() => void) | undefined;

  constructor(settings: ExclusivePoolSettings) {
    this.#settings = settings;
  }

  /**
   * A connection of one's own, which has to be released.
   * @param system whose work it is; `null`: not bounded
   * @throws unavailable; what the settings say after the longest wait
   */
  async lease(system: string | null): Promise<Lease> {
    const link = await this.#acquire(system);
    let released = false;
    return {
      link,
      release: () => {
        if (released) return;
        released = true;
        this.#release(link, system);
      },
    };
  }

  /** Whether somebody waits for a connection. */
  get isWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Has all connections that nobody uses prove that they are alive before they are used again. */
  prove(): void {
    for (const link of this.#idle.splice(0)) void this.#proven(link);
  }

  /** Ends all connections; those in use are waited for, up to `patience` milliseconds. */
  async close(patience: number): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.fail(unavailable());
    await Promise.all(this.#idle.splice(0).map((link) => link.end()));
    if (this.#links.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience);
        this.#onReturn = () => {
          if (this.#links.size > 0) return;
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const link of this.#links) link.destroy();
  }

  #acquire(system: string | null): Promise<PipelinedConnection> {
    if (this.#closed) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { system, take: resolve, fail: reject };
      this.#waiting.push(waiter);
      this.#serve();
      if (!this.#waiting.includes(waiter)) return;
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        reject(serviceError(this.#settings.tooLong));
      }, this.#settings.maxWaitMs);
      waiter.take = (link) => {
        clearTimeout(timer);
        resolve(link);
      };
      waiter.fail = (error) => {
        clearTimeout(timer);
        reject(error);
      };
    });
  }

  #release(link: PipelinedConnection, system: string | null): void {
    if (system !== null) {
      const held = (this.#held.get(system) ?? 1) - 1;
      if (held > 0) this.#held.set(system, held);
      else this.#held.delete(system);
    }
    if (!link.lost) {
      if (this.#closed) void link.end();
      else this.#idle.push(link);
    }
    this.#serve();
  }

  async #provenFor(link: PipelinedConnection): Promise<void> {
    this.#proving += 1;
    await link.prove(PROOF_LIMIT_MS);
    this.#proving -= 1;
    if (!link.lost) this.#idle.push(link);
    this.#serve();
  }

  async #proven(link: PipelinedConnection): Promise<void> {
    await link.prove(PROOF_LIMIT_MS);
    if (link.lost) return;
    if (this.#closed) return link.end();
    this.#idle.push(link);
    this.#serve();
  }

  /** Hands idle links to waiting callers, and makes as many new ones as are wanting. */
  #serve(): void {
    if (this.#waiting.length > 0) {
      const alive = performance.now() - ALIVE_FOR_MS;
      // The last one was used last.
      while (this.#idle.length > 0 && (this.#idle.at(-1) as PipelinedConnection).heardAt < alive)
        void this.#provenFor(this.#idle.pop() as PipelinedConnection);
    }
    let link = this.#idle.at(-1);
    for (let waiter = link && this.#next(); link && waiter; waiter = link && this.#next()) {
      this.#idle.pop();
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      if (waiter.system !== null) this.#held.set(waiter.system, (this.#held.get(waiter.system) ?? 0) + 1);
      waiter.take(link);
      link = this.#idle.at(-1);
    }
    const coming = () => this.#connecting + this.#proving + this.#idle.length;
    while (this.#servable() > coming() && this.#links.size + this.#connecting < this.#settings.size) this.#dial();
  }

  /** The next caller; `undefined` where none waits whose system may have one more. */
  #next(): Waiter | undefined {
    let best: Waiter | undefined;
    let fewest = this.#mostHeld();
    for (const waiter of this.#waiting) {
      const held = waiter.system === null ? 0 : (this.#held.get(waiter.system) ?? 0);
      if (held >= fewest) continue;
      best = waiter;
      fewest = held;
    }
    return best;
  }

  /** How many of the waiting callers may have a link. */
  #servable(): number {
    const most = this.#mostHeld();
    const taken = new Map(this.#held);
    let count = 0;
    for (const { system } of this.#waiting) {
      const held = system === null ? 0 : (taken.get(system) ?? 0);
      if (held >= most) continue;
      if (system !== null) taken.set(system, held + 1);
      count += 1;
    }
    return count;
  }

  #mostHeld(): number {
    return Math.max(1, this.#settings.size - 1);
  }

  #dial(): void {
    this.#connecting += 1;
    this.#settings.connector.dial(this.#settings.limits).then(
      (link) => {
        this.#connecting -= 1;
        this.#links.add(link);
        link.onGone = () => this.#gone(link);
        if (this.#closed) link.destroy();
        else this.#idle.push(link);
        this.#serve();
      },
      (error) => {
        this.#connecting -= 1;
        // Waiting callers are served by a link that comes back; where there is none, the server is away.
        if (this.#links.size > 0 || this.#connecting > 0) return;
        for (const waiter of this.#waiting.splice(0)) waiter.fail(error);
      },
    );
  }

  #gone(link: PipelinedConnection): void {
    this.#links.delete(link);
    const at = this.#idle.indexOf(link);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#onReturn?.();
    // Callers that waited for it need another.
    if (!this.#closed) this.#serve();
  }
}

/** How many connections each group gets. */
export function poolSizes(connections: number): { short: number; transactions: number; long: number } {
  const left = Math.max(3, connections - 1);
  const short = left < 8 ? 1 : 2;
  // Making a system takes one for the registry's transaction, and another for what is made meanwhile.
  const transactions = Math.max(2, Math.floor(((left - short) * 4) / 9));
  return { short, transactions, long: left - short - transactions };
}
