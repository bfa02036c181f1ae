import { LRUCache } from 'lru-cache';
import { TooManyRequests } from '../../errors/too-many-requests.ts';
import { networkOf } from '../../kernel/network.ts';
import { MINUTE_MS } from '../../kernel/time.ts';

/** Addresses that are counted at once, some 10 MB; beyond, those that have been quiet longest are forgotten. */
const MAX_ADDRESSES = 50_000;

interface Window {
  readonly end: number;
  count: number;
}

/**
 * Requests of a kind that an address may make in a minute, which begins with its first one (docs/decisions.md "Functions and forms":
 * RATE_LIMIT_FUNCTIONS, RATE_LIMIT_LOGIN). It needs no timer and never grows beyond a bound, whatever addresses are made up.
 */
export class RateLimit {
  readonly #most: number;
  readonly #now: () => number;
  readonly #windows: LRUCache<string, Window>;

  /** @param most requests a minute @param now milliseconds that only grow */
  constructor(most: number, now = () => performance.now(), remembered = MAX_ADDRESSES) {
    this.#most = most;
    this.#now = now;
    this.#windows = new LRUCache({ max: remembered });
  }

  /** Counts a request. @throws TooManyRequests (155) */
  count(address: string): void {
    const network = networkOf(address);
    const now = this.#now();
    const window = this.#windows.get(network);
    if (!window || now >= window.end) this.#windows.set(network, { end: now + MINUTE_MS, count: 1 });
    else if (window.count < this.#most) window.count++;
    else throw new TooManyRequests(Math.ceil((window.end - now) / 1_000));
  }
}

/** The limit of a setting. @param most requests a minute; 0: `null`, which is no limit */
export function rateLimitOf(most: number): RateLimit | null {
  return most === 0 ? null : new RateLimit(most);
}
