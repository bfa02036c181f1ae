/** A store that is away now and then, for unit tests. */
import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../../errors/fail.ts';
import type { Store } from '../port.ts';

/**
 * What becomes of a write while the store is away: it is not done; or it is, and nobody is told; or it is done later, when others may have been at
 * it.
 */
export type Fate = 'undone' | 'done' | 'late';

/** How a store fails. */
export interface Faults {
  /** Of a write. */
  fate(): Fate;
  /** Milliseconds until a late write is done. */
  readonly late?: number;
}

/** A store whose faults a test turns on and off. Reads and writes fail; what is asked while it is away is counted. */
export class FaultyStore {
  readonly store: Store;
  /** How often it was asked while it was away. */
  asked = 0;
  readonly #faults: Faults;
  readonly #late = new Set<Promise<unknown>>();
  #away: PromiseWithResolvers<void> | undefined;

  constructor(real: Store, faults: Faults) {
    this.#faults = faults;
    const reader = over(real.reader, {
      get: async (selection, objectId) => this.#read(() => real.reader.get(selection, objectId)),
      find: (query, wantsRows) => this.#read(() => real.reader.find(query, wantsRows)),
      aggregate: (aggregation) => this.#read(() => real.reader.aggregate(aggregation)),
    });
    this.store = over(real, {
      reader,
      write: (write) => this.#write(() => real.write(write)),
      bulkTransaction: (work) => this.#write(() => real.bulkTransaction(work)),
      whenBack: () => this.#away?.promise ?? Promise.resolve(),
    });
  }

  /** The store goes away. */
  leave(): void {
    this.#away ??= Promise.withResolvers<void>();
  }

  /** It is back. */
  back(): void {
    this.#away?.resolve();
    this.#away = undefined;
  }

  /** Resolves when what is done late is done. */
  async settled(): Promise<void> {
    await Promise.all(this.#late);
  }

  async #read<T>(read: () => T | Promise<T>): Promise<T> {
    if (this.#away) {
      this.asked++;
      throw serviceError('unavailable');
    }
    const found = await read();
    // It went while it was asked.
    if (this.#away) throw serviceError('unavailable');
    return found;
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    if (!this.#away) return write();
    this.asked++;
    const fate = this.#faults.fate();
    if (fate === 'undone') throw serviceError('unavailable');
    const done = (async () => {
      if (fate === 'late') await wait(this.#faults.late ?? 50);
      // Why it fails is not told.
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
