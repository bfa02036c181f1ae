import type { Cluster } from '../../../storage/cluster.ts';
import type { Registry } from '../../../storage/registry.ts';

/** Which of the processes of a service makes a backup. */
export class BackupTurns {
  readonly #registry: Pick<Registry, 'backupTurn' | 'takeBackupTurn'>;
  readonly #cluster: Pick<Cluster, 'processId' | 'processes'>;

  constructor(registry: Pick<Registry, 'backupTurn' | 'takeBackupTurn'>, cluster: Pick<Cluster, 'processId' | 'processes'>) {
    this.#registry = registry;
    this.#cluster = cluster;
  }

  /** Whether the backup that is due at a time falls to this process: to one of all, once. @throws unavailable */
  async take(due: number): Promise<boolean> {
    const last = await this.#registry.backupTurn();
    if (last && last.due >= due) return false;
    // One that is under way elsewhere is waited for by making none: the next comes soon enough.
    if (last && !last.isDone && (await this.#isAlive(last.processId))) return false;
    return this.#registry.takeBackupTurn(last, { due, processId: this.#cluster.processId, isDone: false });
  }

  /** Takes over what a process has left that ended in the middle. @returns when that was due; `null` where nothing is left */
  async takeLeft(): Promise<number | null> {
    const last = await this.#registry.backupTurn();
    if (!last || last.isDone || (await this.#isAlive(last.processId))) return null;
    const taken = await this.#registry.takeBackupTurn(last, { ...last, processId: this.#cluster.processId });
    return taken ? last.due : null;
  }

  /** Says that it is done, or has failed and is not tried again. */
  async end(due: number): Promise<void> {
    const { processId } = this.#cluster;
    await this.#registry.takeBackupTurn({ due, processId, isDone: false }, { due, processId, isDone: true });
  }

  async #isAlive(processId: string): Promise<boolean> {
    return (await this.#cluster.processes()).has(processId);
  }
}
