import type { Store } from '../../storage/port.ts';

/** Whatever knows the cluster: a store, or all systems. */
type Member = Pick<Store, 'cluster'>;

/** How long the list of processes is cached, and the minimum absence after which a process counts as ended. */
const CACHE_MS = 1_000;

/** The processes that serve the same systems, as seen by this one. One instance for all systems. */
export class LiveProcesses {
  readonly #clock: () => number;
  #alive: ReadonlySet<string> = new Set();
  #polledAt = Number.NEGATIVE_INFINITY;
  #polling: Promise<ReadonlySet<string>> | undefined;
  /** Since when an owner of queue rows has been missing. */
  readonly #missing = new Map<string, number>();
  #losses = 0;

  /** @param clock monotonic, in milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Number of processes so far that disappeared from one poll to the next. */
  get losses(): number {
    return this.#losses;
  }

  /** Returns the ids of the live processes, at most a second old. @throws unavailable */
  async alive(member: Member): Promise<ReadonlySet<string>> {
    if (this.#clock() - this.#polledAt < CACHE_MS) return this.#alive;
    this.#polling ??= this.#poll(member).finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #poll(member: Member): Promise<ReadonlySet<string>> {
    const alive = await member.cluster.processes();
    for (const one of this.#alive) if (!alive.has(one)) this.#losses++;
    for (const one of alive) this.#missing.delete(one);
    this.#alive = alive;
    this.#polledAt = this.#clock();
    return alive;
  }

  /** Whether other processes serve the systems. @throws unavailable */
  async hasOthers(member: Member): Promise<boolean> {
    return (await this.alive(member)).size > 1;
  }

  /**
   * Returns the given processes that have ended: missing in two polls at least a second apart, since a process whose connection broke soon returns.
   * @throws unavailable
   */
  async ended(member: Member, names: Iterable<string>): Promise<string[]> {
    const alive = await this.alive(member);
    const ended: string[] = [];
    for (const name of names) {
      if (alive.has(name)) continue;
      const since = this.#missing.get(name);
      if (since === undefined) this.#missing.set(name, this.#polledAt);
      else if (this.#polledAt - since >= CACHE_MS) ended.push(name);
    }
    return ended;
  }
}
