import { LRUCache } from 'lru-cache';
import { TooManyRequests } from '../../errors/too-many-requests.ts';
import { networkOf } from '../../kernel/network.ts';
import { MINUTE_MS } from '../../kernel/time.ts';

/** Number of addresses that are counted, some 10 MB; beyond it, the least recently used are evicted. */
const MAX_ADDRESSES = 50_000;

interface Window {
  readonly end: number;
  count: number;
}

/**
 * Rate limit per client network in fixed windows of a minute, which begin with the first request. Needs no timer, and its memory is bounded however
 * many addresses are forged. Reference: settings.md#rate_limit_functions, settings.md#rate_limit_login.
 */
export class RateLimit {
  readonly #max: number;
  readonly #now: () => number;
  readonly #windows: LRUCache<string, Window>;

  /** @param max requests per minute @param now monotonic clock in milliseconds */
  constructor(max: number, now = () => performance.now(), remembered = MAX_ADDRESSES) {
    this.#max = max;
    this.#now = now;
    this.#windows = new LRUCache({ max: remembered });
  }

  /** Counts a request. @throws TooManyRequests (155) */
  count(address: string): void {
    const network = networkOf(address);
    const now = this.#now();
    const window = this.#windows.get(network);
    if (!window || now >= window.end) this.#windows.set(network, { end: now + MINUTE_MS, count: 1 });
    else if (window.count < this.#max) window.count++;
    else throw new TooManyRequests(Math.ceil((window.end - now) / 1_000));
  }
}

/** Returns the limiter for a setting. @param max requests per minute; 0 means no limit and returns `null` */
export function rateLimitOf(max: number): RateLimit | null {
  return max === 0 ? null : new RateLimit(max);
}
