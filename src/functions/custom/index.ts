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
import { keepUp } from './unhandled-errors.ts';

export type { LoadedFunction } from './loader.ts';
export type { FunctionRecord } from './system.ts';

export interface OperatorFunctionsParts {
  /** FUNCTIONS_DIR, absolute; it may be missing. */
  readonly directory: string;
  /** How long a call may take, in milliseconds. */
  readonly timeLimit: number;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Names of functions of the service's own: a file cannot take one. */
  readonly isReserved: (name: string) => boolean;
  /** Given errors of the service's own that nobody caught; the process is to end after one. */
  readonly fault: (error: unknown) => void;
}

/** The functions that the operator has put into FUNCTIONS_DIR (CONTRACT "Operator's functions"). */
export class OperatorFunctions {
  readonly #parts: OperatorFunctionsParts;
  readonly #loader: FunctionLoader;
  readonly #over = new AbortController();

  constructor(parts: OperatorFunctionsParts) {
    this.#parts = parts;
    this.#loader = new FunctionLoader(parts);
  }

  /** Loads all functions once, and logs what cannot be loaded. Never throws. */
  async load(): Promise<void> {
    keepUp(this.#parts.log, this.#parts.fault);
    await this.#loader.loadAll();
  }

  /**
   * The function of a name, as its file is now, for a system.
   * @returns `null` where there is none, or it is for other systems
   * @throws internal (500) where its file cannot be loaded, and no version before could
   */
  async find(name: string, appId: string): Promise<LoadedFunction | null> {
    const loaded = await this.#loader.find(name);
    return loaded?.systems && !loaded.systems.has(appId) ? null : loaded;
  }

  /**
   * Runs a function that was found.
   * @returns its result as JSON has it
   * @throws functionFailed (400), functionTimeout (503), unavailable where the service ends
   */
  run(system: FunctionSystem, loaded: LoadedFunction, given: RunInput): Promise<JsonValue> {
    return runFunction({ ...this.#parts, over: this.#over.signal }, system, loaded, given);
  }

  /** The service ends: calls under way are given up, and later ones refused. */
  end(): void {
    this.#over.abort();
  }
}

/** Calls of requests that a system runs at a time, and that wait for their turn. What triggers call is bounded by their queue. */
const bounds = { concurrency: 64, maxWaiting: 1_000 };

const queueOf = memoByObject<Store, FairQueue>(() => new FairQueue(bounds));

/**
 * Runs a call in its turn: anybody may call, as often as he likes, and each call may have many records in memory. Networks take turns, and of too
 * many calls that wait the last one of the network with most of them is refused. No system waits for another one's calls.
 * @throws unavailable (503) where too many wait
 */
export function queueCall<T>(store: Store, { ip }: FunctionRequest, call: () => Promise<T>): Promise<T> {
  return queueOf(store).run({ system: store, caller: networkOf(ip) }, call);
}
