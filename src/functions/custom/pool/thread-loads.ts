import type { FilesOfVersion, LoadOutcome } from '../loading/loader.ts';
import type { DescribedFunction } from '../thread/protocol.ts';

/** What came of loading a file on a thread. */
export interface LoadOnThread extends LoadOutcome<DescribedFunction> {
  /** Whether the thread was lost. */
  readonly isLost: boolean;
  /** Whether other files were loading on the thread, which may be the reason if the thread was lost, or this one took too long. */
  readonly hadCompany: boolean;
  /** Whether the thread has begun calls before, which may have changed its globals, or left something behind that occupies it. */
  readonly wasUsed: boolean;
}

interface Load {
  readonly imported: [path: string, stamp: string][];
  hasCompany: boolean;
  readonly settle: (outcome: Pick<LoadOnThread, 'files' | 'result' | 'isLost'>) => void;
}

/** The files that a thread is loading. */
export class ThreadLoads {
  readonly #loads = new Map<string, Load>();

  get size(): number {
    return this.#loads.size;
  }

  /** Notes that a file is loading. @param wasUsed of the thread @returns what comes of it */
  async add(name: string, wasUsed: boolean): Promise<LoadOnThread> {
    const { promise, resolve: settle } = Promise.withResolvers<Pick<LoadOnThread, 'files' | 'result' | 'isLost'>>();
    for (const load of this.#loads.values()) load.hasCompany = true;
    const load: Load = { imported: [], hasCompany: this.#loads.size > 0, settle };
    this.#loads.set(name, load);
    const outcome = await promise;
    return { ...outcome, hadCompany: load.hasCompany, wasUsed };
  }

  /** Notes an imported file; of which of the loads is not known. */
  imported(path: string, stamp: string): void {
    for (const { imported } of this.#loads.values()) imported.push([path, stamp]);
  }

  settle(name: string, files: FilesOfVersion, result: LoadOnThread['result']): void {
    const load = this.#loads.get(name);
    this.#loads.delete(name);
    load?.settle({ files, result, isLost: false });
  }

  /** The thread is gone. */
  fail(failure: Error): void {
    for (const { imported, settle } of this.#loads.values()) settle({ files: imported, result: { failure }, isLost: true });
    this.#loads.clear();
  }
}

/** The reason if a thread was lost for nothing that the file has done; a passing one, so that the file is loaded again. */
export const threadLost = () => Object.assign(new Error('the thread that loads it was lost'), { code: 'EAGAIN' });
