import { fail } from '../../errors/fail.ts';
import type { Logger } from '../../observe/index.ts';
import { FunctionLoader } from './loading/loader.ts';
import { type FoundFunction, FunctionThreads } from './pool/index.ts';

export interface InstalledFunctionsParts {
  /** FUNCTIONS_DIR, absolute; it may be missing. */
  readonly directory: string;
  /** Time limit of a call, and for loading a file, in milliseconds. */
  readonly timeLimit: number;
  /** Memory that a thread of functions may use, in MiB. */
  readonly memoryMb: number;
  /** The environment variables of functions. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Names of built-in functions; a file cannot take one. */
  readonly isReserved: (name: string) => boolean;
}

/** Time limit for loading a file, at least: one that is not loaded in time is not tried again until it changes, and the machine may be busy. */
const MIN_LOAD_LIMIT_MS = 5_000;

/** The functions in FUNCTIONS_DIR, and the threads that have their code. */
export class InstalledFunctions {
  readonly threads: FunctionThreads;
  readonly #loader: FunctionLoader<FoundFunction>;

  constructor(parts: InstalledFunctionsParts) {
    this.threads = new FunctionThreads({
      ...parts,
      timeLimit: Math.max(parts.timeLimit, MIN_LOAD_LIMIT_MS),
      isBehind: (name) => this.#loader.isBehind(name),
      onFiles: (name, files) => this.#loader.noteFiles(name, files),
    });
    this.#loader = new FunctionLoader({ ...parts, load: (name, file) => this.threads.load(name, file) });
  }

  /** Loads all functions once, and logs those that cannot be loaded. Never throws. */
  load(): Promise<void> {
    return this.#loader.loadAll();
  }

  /**
   * Returns the function of a name for a system, from the current version of its file.
   * @returns `null` if there is none, or it is not for this system
   * @throws internal (500) if its file cannot be loaded and no earlier version is available; unavailable (503) if that is transient
   */
  async find(name: string, appId: string): Promise<FoundFunction | null> {
    const found = await this.#loader.find(name);
    if (!found || !isFor(found, appId)) return null;
    // The threads that had the earlier version may have been lost.
    return this.#loader.isBehind(name) && !this.threads.hold(found) ? fail('internal') : found;
  }

  /** Returns the functions that can be called, by name. @param appId those of a system; left out: of all */
  async all(appId?: string): Promise<FoundFunction[]> {
    const all = await this.#loader.all();
    return appId === undefined ? all : all.filter((found) => isFor(found, appId));
  }

  /** Ends the threads, and what functions have left behind on them. */
  close(): Promise<void> {
    return this.threads.close();
  }
}

const isFor = ({ systems }: FoundFunction, appId: string): boolean => systems === null || systems.has(appId);
