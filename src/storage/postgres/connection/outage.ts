import { isInDoubt, isUnavailable } from '../../../errors/fail.ts';
import type { PassingFault } from '../../../errors/system-faults.ts';
import type { Conditions } from '../../../observe/index.ts';
import { Recovery } from '../../recovery.ts';
import type { Statement } from '../../sql/writer.ts';
import { faultOf } from './map-error.ts';

/** Faults that are met by all systems of a database, and end for all of them. The others are one system's. */
const COMMON: ReadonlySet<PassingFault> = new Set<PassingFault>([
  'the database cannot be reached',
  'the database has no room',
  'the disk is full',
  'the storage is read-only',
  'no file descriptors are left',
]);

/** What tries a system's store: a small write. */
export interface Trial {
  readonly appId: string | undefined;
  readonly statements: () => readonly Statement[];
}

/** What the database is told with which faults are told of. */
export interface OutageSettings {
  readonly conditions: Pick<Conditions, 'met' | 'over'> | undefined;
  /** Reads, and carries a small write out. @throws where the database does not */
  readonly works: (write: readonly Statement[], system: string | undefined) => Promise<void>;
}

/** Knows whether the database works after faults that can pass, and tells of these. One look at the database is for all its systems. */
export class Outage {
  readonly #settings: OutageSettings;
  readonly #trials = new Map<string, Trial>();
  readonly #ofSystems = new Map<string, Recovery>();
  /** Systems whose small write met an I/O error when it was last tried. */
  readonly #unwritable = new Set<string>();
  readonly #common: Recovery;
  /** Common faults that were met, and by which systems. */
  readonly #faults = new Map<PassingFault, Set<string | undefined>>();
  /** The system whose write is tried: the last that met a fault. */
  #system: string | undefined;

  constructor(settings: OutageSettings) {
    this.#settings = settings;
    const works = () => settings.works(this.#trialOf(this.#system), this.#system);
    // What is one system's own, a schema that was removed say, keeps no other waiting.
    const worksForAll = () =>
      works().catch((error) => {
        const kind = faultOf(error);
        if (kind && COMMON.has(kind)) throw error;
      });
    this.#common = new Recovery(worksForAll, () => this.#commonOver());
  }

  /** Takes a system on. @returns what ends that */
  enlist(system: string, trial: Trial): () => void {
    this.#trials.set(system, trial);
    return () => {
      if (this.#trials.get(system) === trial) this.#trials.delete(system);
      this.#ofSystems.get(system)?.close();
      this.#ofSystems.delete(system);
      this.#unwritable.delete(system);
    };
  }

  /**
   * An error was met, as callers get it. All but faults that can pass are passed over.
   * @param system whose work met it; `undefined`: the service's own
   */
  met(error: unknown, system?: string): void {
    if (!isUnavailable(error) && !isInDoubt(error)) return;
    const kind = faultOf(error);
    if (!kind) return;
    const own = system === undefined || !this.#trials.has(system) ? undefined : system;
    const { conditions } = this.#settings;
    const cause = (error as Error).cause;
    if (!COMMON.has(kind)) {
      conditions?.met(kind, this.#about(own), cause);
      if (own !== undefined) this.#ofSystem(own).met();
      return;
    }
    if (own !== undefined) this.#system = own;
    const concerned = kind === 'the database cannot be reached' ? undefined : own;
    this.#faults.set(kind, (this.#faults.get(kind) ?? new Set()).add(concerned));
    conditions?.met(kind, this.#about(concerned), cause);
    this.#common.met();
  }

  /** Whether a system's store takes no small write for I/O errors (CONTRACT "Operations": `/health/ready`). */
  get cannotWrite(): boolean {
    return this.#unwritable.size > 0;
  }

  /** Resolves once the database, and a system's store, work after a fault that can pass; at once where none is known. Never rejects. */
  async whenBack(system: string): Promise<void> {
    for (;;) {
      const own = this.#ofSystems.get(system);
      if (this.#common.isAway) await this.#common.whenBack();
      else if (own?.isAway) await own.whenBack();
      else return;
    }
  }

  close(): void {
    this.#common.close();
    for (const recovery of this.#ofSystems.values()) recovery.close();
  }

  #ofSystem(system: string): Recovery {
    let recovery = this.#ofSystems.get(system);
    if (!recovery) {
      const works = () => this.#tried(system);
      recovery = new Recovery(works, () => this.#settings.conditions?.over(this.#about(system)));
      this.#ofSystems.set(system, recovery);
    }
    return recovery;
  }

  async #tried(system: string): Promise<void> {
    try {
      await this.#settings.works(this.#trialOf(system), system);
      this.#unwritable.delete(system);
    } catch (error) {
      if (faultOf(error) === 'an I/O error' && this.#ofSystems.has(system)) this.#unwritable.add(system);
      throw error;
    }
  }

  #commonOver(): void {
    for (const [kind, systems] of this.#faults)
      for (const system of systems) this.#settings.conditions?.over(this.#about(system), kind);
    this.#faults.clear();
  }

  #trialOf(system: string | undefined): readonly Statement[] {
    return (system === undefined ? undefined : this.#trials.get(system))?.statements() ?? [];
  }

  #about(system: string | undefined): { readonly app?: string } {
    const appId = system === undefined ? undefined : (this.#trials.get(system)?.appId ?? system);
    return appId === undefined ? {} : { app: appId };
  }
}
