import type { SharedLoad } from './load.ts';
import type { SharedPool } from './shared-pool.ts';

/**
 * Shared connections by node of a cluster: a node that falls silent delays the short reads of its own systems only. Systems that lie on no node, and
 * those of other servers, share one pool.
 */
export class SharedPools {
  /** For reads of no system, and for those whose node is not known. */
  readonly common: SharedPool;
  readonly #create: () => SharedPool;
  readonly #byNode = new Map<string, SharedPool>();

  constructor(create: () => SharedPool) {
    this.#create = create;
    this.common = create();
  }

  /** Returns the connections for short reads of the systems of a node. */
  of(node: string | undefined): SharedPool {
    if (node === undefined) return this.common;
    const pool = this.#byNode.get(node) ?? this.#create();
    this.#byNode.set(node, pool);
    return pool;
  }

  ping(): void {
    for (const pool of this.#all()) pool.ping();
  }

  get load(): SharedLoad {
    const loads = this.#all().map((pool) => pool.load);
    const sum = (of: keyof SharedLoad) => loads.reduce((all, load) => all + load[of], 0);
    return { pending: sum('pending'), busy: sum('busy'), idle: sum('idle') };
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((pool) => pool.close()));
  }

  #all(): SharedPool[] {
    return [this.common, ...this.#byNode.values()];
  }
}
