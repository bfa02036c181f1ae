import type { Dialer, SessionLimits } from './dial.ts';
import { unavailable } from './errors.ts';
import type { Link } from './link.ts';

/** Statements under way on each connection before another one is made. */
const ENOUGH_FOR_ONE = 8;

/** Connections that all callers use at once: statements are sent one behind the other, not waited for. */
export class SharedLinks {
  readonly #dialer: Dialer;
  readonly #limits: SessionLimits;
  readonly #size: number;
  readonly #links: Link[] = [];
  #dialling: Promise<Link> | undefined;
  #closed = false;

  constructor(dialer: Dialer, size: number, limits: SessionLimits) {
    this.#dialer = dialer;
    this.#size = size;
    this.#limits = limits;
  }

  /** The connection with the least to do. @throws unavailable */
  get(): Link | Promise<Link> {
    if (this.#closed) return Promise.reject(unavailable());
    let best: Link | undefined;
    for (const link of this.#links) if (!best || link.underWay < best.underWay) best = link;
    if (!best) return this.#dial();
    if (best.underWay >= ENOUGH_FOR_ONE && this.#links.length < this.#size) this.#dial().catch(() => {});
    return best;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#dialling?.catch(() => {});
    await Promise.all(this.#links.splice(0).map((link) => link.end()));
  }

  #dial(): Promise<Link> {
    this.#dialling ??= this.#dialer
      .dial(this.#limits)
      .then((link) => {
        this.#links.push(link);
        link.onGone = () => {
          const at = this.#links.indexOf(link);
          if (at >= 0) this.#links.splice(at, 1);
        };
        return link;
      })
      .finally(() => {
        this.#dialling = undefined;
      });
    return this.#dialling;
  }
}
