import { type PassingFault, passingFaultOfSystem, unavailableSince } from '../errors/system-faults.ts';
import type { Conditions } from '../observe/index.ts';

/** The application id of a system; of nobody's where it is left out. */
interface About {
  readonly app?: string;
}

/** Sorts the faults of the disk that files lie on: those that can pass are `unavailable` (CONTRACT "Faults of the store"); tells the log of them. */
export class DiskFaults {
  readonly #conditions: Pick<Conditions, 'met' | 'over'> | undefined;
  /** What was met since a write went well: whose, and what. */
  readonly #met = new Map<string, { readonly about: About; readonly kind: PassingFault }>();

  constructor(conditions?: Pick<Conditions, 'met' | 'over'>) {
    this.#conditions = conditions;
  }

  /** Work that reads. @throws unavailable in place of a fault of the disk that can pass */
  async reading<T>(about: About, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const kind = passingFaultOfSystem(error);
      if (!kind) throw error;
      this.#met.set(JSON.stringify([about, kind]), { about, kind });
      this.#conditions?.met(kind, { ...about }, error);
      throw unavailableSince(error);
    }
  }

  /** Work that writes: all lies on one disk, so that the faults before it are over where it goes well. @throws as `reading` */
  async writing<T>(about: About, work: () => Promise<T>): Promise<T> {
    const done = await this.reading(about, work);
    for (const { about: whose, kind } of this.#met.values()) this.#conditions?.over({ ...whose }, kind);
    this.#met.clear();
    return done;
  }
}
