import { FairQueue } from '../../admission/fair-queue.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { networkOf } from '../../kernel/network.ts';
import type { Logger } from '../../observe/index.ts';
import type { WriteHooks } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { FunctionLoader, type LoadedFunction } from './loader.ts';
import type { FunctionRequest, FunctionSystem } from './model.ts';
import { type RunInput, runFunction } from './runner.ts';
import { catchUnhandledErrors } from './unhandled-errors.ts';

export type { LoadedFunction } from './loader.ts';
export type { FunctionRecord } from './system.ts';

export interface CustomFunctionsParts {
  /** FUNCTIONS_DIR, absolute; it may be missing. */
  readonly directory: string;
  /** Time limit of a call in milliseconds. */
  readonly timeLimit: number;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Names of built-in functions; a file cannot take one. */
  readonly isReserved: (name: string) => boolean;
  /** Called with uncaught errors of the service itself; the process must end after one. */
  readonly fault: (error: unknown) => void;
}

/** The custom functions in FUNCTIONS_DIR. Reference: functions.md#custom-functions. */
export class CustomFunctions {
  readonly #parts: CustomFunctionsParts;
  readonly #loader: FunctionLoader;
  readonly #shutdown = new AbortController();

  constructor(parts: CustomFunctionsParts) {
    this.#parts = parts;
    this.#loader = new FunctionLoader(parts);
  }

  /** Loads all functions once, and logs those that cannot be loaded. Never throws. */
  async load(): Promise<void> {
    catchUnhandledErrors(this.#parts.log, this.#parts.fault);
    await this.#loader.loadAll();
  }

  /**
   * Returns the function of a name for a system, from the current version of its file.
   * @returns `null` if there is none, or it is not for this system
   * @throws internal (500) if its file cannot be loaded and no earlier version is available
   */
  async find(name: string, appId: string): Promise<LoadedFunction | null> {
    const loaded = await this.#loader.find(name);
    return loaded?.systems && !loaded.systems.has(appId) ? null : loaded;
  }

  /** Returns the functions of a system, by name. */
  async of(appId: string): Promise<LoadedFunction[]> {
    const all = await this.#loader.all();
    return all.filter(({ systems }) => systems === null || systems.has(appId));
  }

  /**
   * Runs a function.
   * @returns its result as JSON
   * @throws functionFailed (400), functionTimeout (503), unavailable during shutdown
   */
  run(system: FunctionSystem, loaded: LoadedFunction, given: RunInput): Promise<JsonValue> {
    return runFunction({ ...this.#parts, shutdown: this.#shutdown.signal }, system, loaded, given);
  }

  /** Aborts running calls and refuses later ones. For shutdown. */
  abort(): void {
    this.#shutdown.abort();
  }
}

/** Limits per system for concurrent and waiting calls by requests. Calls by triggers are limited by their queue. */
export const CALL_LIMITS = { concurrency: 64, maxWaiting: 1_000 };

const queueOf = memoByObject<Store, FairQueue>(() => new FairQueue(CALL_LIMITS));

/**
 * Queues a call by a request, because anyone may call without limit and each call may hold many records in memory. Networks are served round-robin;
 * when the queue is full, the last call of the network with most waiting calls is refused. Systems do not wait for each other.
 * @throws unavailable (503) if the queue is full
 */
export function queueCall<T>(store: Store, { ip }: FunctionRequest, call: () => Promise<T>): Promise<T> {
  return queueOf(store).run({ system: store, caller: networkOf(ip) }, call);
}
