import { isInDoubt, isUnavailable } from '../../../errors/fail.ts';
import type { PassingFault } from '../../../errors/system-faults.ts';
import type { Conditions } from '../../../observe/index.ts';
import { Recovery } from '../../recovery.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { isOfNode, passingFaultOf } from './map-error.ts';
import { NodeOutages, type NodeOutagesSettings } from './node-outages.ts';

/** Faults that affect all systems of a database and end for all of them. Other faults belong to one system. */
const COMMON: ReadonlySet<PassingFault> = new Set<PassingFault>([
  'the database cannot be reached',
  'the database has no room',
  'the disk is full',
  'the storage is read-only',
  'no file descriptors are left',
]);

/** A small write that shows whether a system's store works. */
export interface WriteProbe {
  readonly appId: string | undefined;
  readonly statements: () => readonly Statement[];
}

/** Settings and collaborators of `Outage`. */
export interface OutageSettings {
  readonly conditions: Pick<Conditions, 'met' | 'over'> | undefined;
  /** Reads, and performs the small write. @throws if the database fails to do so */
  readonly check: (write: readonly Statement[], system: string | undefined) => Promise<void>;
  /** As in `NodeOutages`. */
  readonly isCoordinator: boolean;
  readonly query: NodeOutagesSettings['query'];
}

/** Tracks whether the database works after passing faults, and reports them as conditions. Systems share one recovery check for common faults. */
export class Outage {
  /** Nodes that are away, if the database is a cluster. */
  readonly nodes: NodeOutages;
  readonly #settings: OutageSettings;
  readonly #probes = new Map<string, WriteProbe>();
  readonly #recoveries = new Map<string, Recovery>();
  /** Systems whose last small write failed with an I/O error. */
  readonly #unwritable = new Set<string>();
  readonly #common: Recovery;
  /** Common faults that occurred, and the systems affected. */
  readonly #faults = new Map<PassingFault, Set<string | undefined>>();
  /** System used for the recovery check: the last one that met a fault. */
  #system: string | undefined;

  constructor(settings: OutageSettings) {
    this.#settings = settings;
    this.nodes = new NodeOutages(settings);
    const check = () => settings.check(this.#probeOf(this.#system), this.#system);
    // A fault of that system alone, such as a removed schema, must not delay the others.
    const checkForAll = () =>
      check().catch((error) => {
        const kind = passingFaultOf(error);
        if (kind && COMMON.has(kind) && !isOfNode(error)) throw error;
      });
    this.#common = new Recovery(checkForAll, () => this.#endCommonFaults());
  }

  /** Registers a system. @returns a function that removes it */
  register(system: string, probe: WriteProbe): () => void {
    this.#probes.set(system, probe);
    return () => {
      if (this.#probes.get(system) === probe) this.#probes.delete(system);
      this.#recoveries.get(system)?.close();
      this.#recoveries.delete(system);
      this.#unwritable.delete(system);
    };
  }

  /**
   * Records an error as callers get it. Errors other than passing faults are ignored.
   * @param system PostgreSQL schema of the system whose work failed; `undefined`: the service's own work
   */
  record(error: unknown, system?: string): void {
    if (!isUnavailable(error) && !isInDoubt(error)) return;
    const kind = passingFaultOf(error);
    if (!kind) return;
    const own = system === undefined || !this.#probes.has(system) ? undefined : system;
    const { conditions } = this.#settings;
    const cause = (error as Error).cause;
    if (kind === 'a node of the database cannot be reached') {
      // A change of a schema needs all nodes: if another one is away, the system pauses for one probe.
      if (!this.nodes.met(error, own) && own !== undefined) this.#recoveryOf(own).met();
      return;
    }
    // What a node reports concerns the systems there only.
    if (!COMMON.has(kind) || (own !== undefined && isOfNode(error))) {
      conditions?.met(kind, this.#labels(own), cause);
      if (own !== undefined) this.#recoveryOf(own).met();
      return;
    }
    if (own !== undefined) this.#system = own;
    const concerned = kind === 'the database cannot be reached' ? undefined : own;
    this.#faults.set(kind, (this.#faults.get(kind) ?? new Set()).add(concerned));
    conditions?.met(kind, this.#labels(concerned), cause);
    this.#common.met();
  }

  /** Whether a system's store refuses small writes with I/O errors. `/health/ready` then fails. Reference: faults.md#health. */
  get cannotWrite(): boolean {
    return this.#unwritable.size > 0;
  }

  /** Resolves once the database and the system's store work after a passing fault; immediately if no such fault is known. Never rejects. */
  async whenBack(system: string): Promise<void> {
    for (;;) {
      const own = this.#recoveries.get(system);
      const node = this.nodes.whenBack(system);
      if (this.#common.isAway) await this.#common.whenBack();
      else if (node) await node;
      else if (own?.isAway) await own.whenBack();
      else return;
    }
  }

  close(): void {
    this.#common.close();
    this.nodes.close();
    for (const recovery of this.#recoveries.values()) recovery.close();
  }

  #recoveryOf(system: string): Recovery {
    let recovery = this.#recoveries.get(system);
    if (!recovery) {
      const check = () => this.#runProbe(system);
      recovery = new Recovery(check, () => this.#settings.conditions?.over(this.#labels(system)));
      this.#recoveries.set(system, recovery);
    }
    return recovery;
  }

  async #runProbe(system: string): Promise<void> {
    try {
      await this.#settings.check(this.#probeOf(system), system);
      this.#unwritable.delete(system);
    } catch (error) {
      if (passingFaultOf(error) === 'an I/O error' && this.#recoveries.has(system)) this.#unwritable.add(system);
      throw error;
    }
  }

  #endCommonFaults(): void {
    for (const [kind, systems] of this.#faults)
      for (const system of systems) this.#settings.conditions?.over(this.#labels(system), kind);
    this.#faults.clear();
  }

  #probeOf(system: string | undefined): readonly Statement[] {
    return (system === undefined ? undefined : this.#probes.get(system))?.statements() ?? [];
  }

  #labels(system: string | undefined): { readonly app?: string } {
    const appId = system === undefined ? undefined : (this.#probes.get(system)?.appId ?? system);
    return appId === undefined ? {} : { app: appId };
  }
}
