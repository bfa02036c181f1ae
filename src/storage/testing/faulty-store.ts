import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../../errors/fail.ts';
import type { Store } from '../port.ts';

/**
 * What happens to a write while the store is away: it is not done; it is done, but its result is lost; or it is done later, when other writes may
 * have come in between.
 */
export type Fate = 'undone' | 'done' | 'late';

/** How a store fails. */
export interface Faults {
  /** Decides the fate of a write. */
  fate(): Fate;
  /** Delay of a late write, in milliseconds. */
  readonly late?: number;
}

/** A store whose faults a test turns on and off. While it is away, reads and writes fail and calls are counted. */
export class FaultyStore {
  readonly store: Store;
  /** Number of calls while it was away. */
  callCount = 0;
  readonly #faults: Faults;
  readonly #late = new Set<Promise<unknown>>();
  #away: PromiseWithResolvers<void> | undefined;

  constructor(real: Store, faults: Faults) {
    this.#faults = faults;
    const reader = over(real.reader, {
      get: async (selection, objectId) => this.#read(() => real.reader.get(selection, objectId)),
      find: (query, form) => this.#read(() => real.reader.find(query, form)),
      aggregate: (aggregation) => this.#read(() => real.reader.aggregate(aggregation)),
    });
    this.store = over(real, {
      reader,
      write: (write) => this.#write(() => real.write(write)),
      bulkTransaction: (work) => this.#write(() => real.bulkTransaction(work)),
      whenBack: () => this.#away?.promise ?? Promise.resolve(),
    });
  }

  /** Starts an outage. */
  leave(): void {
    this.#away ??= Promise.withResolvers<void>();
  }

  /** Ends the outage. */
  back(): void {
    this.#away?.resolve();
    this.#away = undefined;
  }

  /** Resolves when the late writes are done. */
  async lateWritesDone(): Promise<void> {
    await Promise.all(this.#late);
  }

  async #read<T>(read: () => T | Promise<T>): Promise<T> {
    if (this.#away) {
      this.callCount++;
      throw serviceError('unavailable');
    }
    const found = await read();
    // The outage began during the read.
    if (this.#away) throw serviceError('unavailable');
    return found;
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    if (!this.#away) return write();
    this.callCount++;
    const fate = this.#faults.fate();
    if (fate === 'undone') throw serviceError('unavailable');
    const done = (async () => {
      if (fate === 'late') await wait(this.#faults.late ?? 50);
      // Its error is ignored: the caller gets `outcomeUnknown`.
      await write().catch(() => {});
    })();
    if (fate === 'done') await done;
    else {
      this.#late.add(done);
      void done.finally(() => this.#late.delete(done));
    }
    throw serviceError('outcomeUnknown');
  }
}

function over<T extends object>(target: T, more: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(more, name)) return more[name as keyof T];
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
