import type { Cluster } from '../../../storage/cluster.ts';
import type { Registry } from '../../../storage/registry.ts';

/** Decides which process of a service makes a backup. */
export class BackupTurns {
  readonly #registry: Pick<Registry, 'backupTurn' | 'takeBackupTurn'>;
  readonly #cluster: Pick<Cluster, 'processId' | 'processes'>;

  constructor(registry: Pick<Registry, 'backupTurn' | 'takeBackupTurn'>, cluster: Pick<Cluster, 'processId' | 'processes'>) {
    this.#registry = registry;
    this.#cluster = cluster;
  }

  /** Claims the backup due at a time for this process; returns true in exactly one process. @throws unavailable */
  async take(due: number): Promise<boolean> {
    const last = await this.#registry.backupTurn();
    if (last && last.due >= due) return false;
    // While another process still makes a backup, this one is skipped: the next is due soon enough.
    if (last && !last.isDone && (await this.#isAlive(last.processId))) return false;
    return this.#registry.takeBackupTurn(last, { due, processId: this.#cluster.processId, isDone: false });
  }

  /** Claims a backup whose process terminated before finishing. @returns its due time; `null` if there is none */
  async takeLeft(): Promise<number | null> {
    const last = await this.#registry.backupTurn();
    if (!last || last.isDone || (await this.#isAlive(last.processId))) return null;
    const taken = await this.#registry.takeBackupTurn(last, { ...last, processId: this.#cluster.processId });
    return taken ? last.due : null;
  }

  /** Records that the backup is finished, or has failed and is not retried. */
  async end(due: number): Promise<void> {
    const { processId } = this.#cluster;
    await this.#registry.takeBackupTurn({ due, processId, isDone: false }, { due, processId, isDone: true });
  }

  async #isAlive(processId: string): Promise<boolean> {
    return (await this.#cluster.processes()).has(processId);
  }
}
