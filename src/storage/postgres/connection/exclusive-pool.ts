import { serviceError } from '../../../errors/fail.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Connector, SessionLimits } from './connect.ts';
import type { PoolLoad } from './load.ts';
import { unavailable } from './map-error.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

/** By whom a connection is held. Each key gets all connections except one. */
interface Holder {
  /** The system, or another key by which its work is accounted; `null`: not limited. */
  readonly turn: string | null;
  /** The node of a cluster where the work is done, if it is: one that falls silent holds its connections for some seconds. */
  readonly node: string | undefined;
}

interface Waiter extends Holder {
  take(link: PipelinedConnection): void;
  fail(error: unknown): void;
}

/** A connection in exclusive use. */
export interface Lease {
  readonly link: PipelinedConnection;
  /** Returns the connection to the pool, unless it was lost. */
  release(): void;
}

/** Settings of a pool. */
export interface ExclusivePoolSettings {
  readonly connector: Connector;
  readonly size: number;
  readonly limits: SessionLimits;
  /** Maximum wait for a connection, in milliseconds. */
  readonly maxWaitMs: number;
  /** Error key after this wait. */
  readonly timeoutError: 'timeout' | 'unavailable';
  /** Called when a caller got a connection. */
  readonly onLeased?: (waitMs: number) => void;
}

/**
 * Age, in milliseconds, after which a connection is replaced when it is returned: its session keeps some 200 KB of the server's memory for each
 * system that it has seen.
 */
export const MAX_AGE_MS = 15 * MINUTE_MS;
/** Milliseconds after which an unused connection is pinged before it is used again: connections can die without notice. */
const ALIVE_FOR_MS = 15_000;
/** Timeout of this ping, in milliseconds. */
export const PING_TIMEOUT_MS = 1000;

/**
 * Connections for exclusive use by one caller at a time. The system that holds the fewest comes first, then the longest waiting caller. One system,
 * and one node, gets all connections except one.
 */
export class ExclusivePool {
  readonly #settings: ExclusivePoolSettings;
  readonly #idle: PipelinedConnection[] = [];
  readonly #held = new Map<string, number>();
  readonly #links = new Set<PipelinedConnection>();
  #connecting = 0;
  /** Idle connections that are being pinged for a waiting caller. */
  #pinging = 0;
  #waiting: Waiter[] = [];
  #closed = false;
  #onReturn: (() => void) | undefined;

  constructor(settings: ExclusivePoolSettings) {
    this.#settings = settings;
  }

  /**
   * Takes a connection, which the caller must release.
   * @param turn as in `Holder`
   * @param system whose work it is
   * @param node as in `Holder`
   * @throws unavailable; `timeoutError` of the settings after the maximum wait
   */
  async lease(turn: string | null, system = turn ?? undefined, node?: string): Promise<Lease> {
    const holder = { turn, node };
    const began = performance.now();
    const link = await this.#acquire(holder);
    this.#settings.onLeased?.(performance.now() - began);
    link.system = system;
    let released = false;
    return {
      link,
      release: () => {
        if (released) return;
        released = true;
        link.system = undefined;
        this.#release(link, holder);
      },
    };
  }

  /** Whether a caller waits for a connection. */
  get hasWaiters(): boolean {
    return this.#waiting.length > 0;
  }

  /** Connections in use, and idle ones. */
  get load(): PoolLoad {
    const idle = this.#idle.length + this.#pinging;
    return { busy: Math.max(0, this.#links.size - idle), idle };
  }

  /** Pings all idle connections before they are used again. */
  ping(): void {
    for (const link of this.#idle.splice(0)) void this.#pingIdle(link);
  }

  /** Ends all connections, waiting up to `graceMs` for those in use. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.fail(unavailable());
    await Promise.all(this.#idle.splice(0).map((link) => link.end()));
    if (this.#links.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#onReturn = () => {
          if (this.#links.size > 0) return;
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const link of this.#links) link.destroy();
  }

  #acquire(holder: Holder): Promise<PipelinedConnection> {
    if (this.#closed) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { ...holder, take: resolve, fail: reject };
      this.#waiting.push(waiter);
      this.#serve();
      if (!this.#waiting.includes(waiter)) return;
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        reject(serviceError(this.#settings.timeoutError));
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

  #release(link: PipelinedConnection, holder: Holder): void {
    for (const key of keysOf(holder)) {
      const held = (this.#held.get(key) ?? 1) - 1;
      if (held > 0) this.#held.set(key, held);
      else this.#held.delete(key);
    }
    if (!link.lost) {
      if (this.#closed || performance.now() - link.connectedAt > MAX_AGE_MS) void link.end();
      else this.#idle.push(link);
    }
    this.#serve();
  }

  async #pingForWaiter(link: PipelinedConnection): Promise<void> {
    this.#pinging += 1;
    await link.ping(PING_TIMEOUT_MS);
    this.#pinging -= 1;
    if (!link.lost) this.#idle.push(link);
    this.#serve();
  }

  async #pingIdle(link: PipelinedConnection): Promise<void> {
    await link.ping(PING_TIMEOUT_MS);
    if (link.lost) return;
    if (this.#closed) return link.end();
    this.#idle.push(link);
    this.#serve();
  }

  /** Hands idle connections to waiting callers, and opens as many new ones as are missing. */
  #serve(): void {
    if (this.#waiting.length > 0) {
      const alive = performance.now() - ALIVE_FOR_MS;
      // The last one was used maxPerSystem recently, so if it is fresh, hand it out.
      while (this.#idle.length > 0 && (this.#idle.at(-1) as PipelinedConnection).lastReceivedAt < alive)
        void this.#pingForWaiter(this.#idle.pop() as PipelinedConnection);
    }
    let link = this.#idle.at(-1);
    for (let waiter = link && this.#next(); link && waiter; waiter = link && this.#next()) {
      this.#idle.pop();
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      for (const key of keysOf(waiter)) this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
      waiter.take(link);
      link = this.#idle.at(-1);
    }
    const coming = () => this.#connecting + this.#pinging + this.#idle.length;
    while (this.#servable() > coming() && this.#links.size + this.#connecting < this.#settings.size) this.#connect();
  }

  /** Returns the next caller to serve; `undefined` if none waits whose system may have another connection. */
  #next(): Waiter | undefined {
    let best: Waiter | undefined;
    let fewest = this.#maxPerSystem();
    for (const waiter of this.#waiting) {
      if (isAtLimit(waiter, this.#held, this.#maxPerSystem())) continue;
      const held = waiter.turn === null ? 0 : (this.#held.get(waiter.turn) ?? 0);
      if (held >= fewest) continue;
      best = waiter;
      fewest = held;
    }
    return best;
  }

  /** Returns how many of the waiting callers may have a connection. */
  #servable(): number {
    const maxPerSystem = this.#maxPerSystem();
    const taken = new Map(this.#held);
    let count = 0;
    for (const waiter of this.#waiting) {
      if (isAtLimit(waiter, taken, maxPerSystem)) continue;
      for (const key of keysOf(waiter)) taken.set(key, (taken.get(key) ?? 0) + 1);
      count += 1;
    }
    return count;
  }

  #maxPerSystem(): number {
    return Math.max(1, this.#settings.size - 1);
  }

  #connect(): void {
    this.#connecting += 1;
    this.#settings.connector.connect(this.#settings.limits).then(
      (link) => {
        this.#connecting -= 1;
        this.#links.add(link);
        link.onLost = () => this.#removeLost(link);
        if (this.#closed) link.destroy();
        else this.#idle.push(link);
        this.#serve();
      },
      (error) => {
        this.#connecting -= 1;
        // Waiting callers can use a connection that is returned. If there is none, the server is unreachable.
        if (this.#links.size > 0 || this.#connecting > 0) return;
        for (const waiter of this.#waiting.splice(0)) waiter.fail(error);
      },
    );
  }

  #removeLost(link: PipelinedConnection): void {
    this.#links.delete(link);
    const at = this.#idle.indexOf(link);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#onReturn?.();
    // Waiting callers need a replacement.
    if (!this.#closed) this.#serve();
  }
}

/** Keys under which a holder is counted. Names of systems' schemas contain no colon. */
function keysOf({ turn, node }: Holder): string[] {
  const keys = turn === null ? [] : [turn];
  return node === undefined ? keys : [...keys, `node:${node}`];
}

const isAtLimit = (holder: Holder, held: ReadonlyMap<string, number>, max: number): boolean =>
  keysOf(holder).some((key) => (held.get(key) ?? 0) >= max);

/** Divides the connections of a process among its pools. One is reserved for the listener. */
export function poolSizes(connections: number): { short: number; transactions: number; long: number } {
  const left = Math.max(3, connections - 1);
  const short = left < 8 ? 1 : 2;
  // Creating a system takes one for the registry's transaction and another for the work within it.
  const transactions = Math.max(2, Math.floor(((left - short) * 4) / 9));
  return { short, transactions, long: left - short - transactions };
}
