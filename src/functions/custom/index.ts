import { FairQueue } from '../../admission/fair-queue.ts';
import { fail } from '../../errors/fail.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { networkOf } from '../../kernel/network.ts';
import type { WriteHooks } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import type { FunctionRequest, FunctionSystem } from './api/model.ts';
import { InstalledFunctions, type InstalledFunctionsParts } from './installed.ts';
import type { FoundFunction } from './pool/index.ts';
import { type RunInput, runFunction } from './runner.ts';

export type { FunctionRecord } from './api/system.ts';
export { InstalledFunctions } from './installed.ts';
export type { FoundFunction } from './pool/index.ts';

export interface CustomFunctionsParts extends InstalledFunctionsParts {
  readonly hooks: WriteHooks;
}

/** How often a function whose files change at the moment of a call is found again. */
const MAX_ATTEMPTS = 5;

/** The custom functions. Reference: functions.md#custom-functions. */
export class CustomFunctions extends InstalledFunctions {
  readonly #parts: CustomFunctionsParts;
  readonly #shutdown = new AbortController();

  constructor(parts: CustomFunctionsParts) {
    super(parts);
    this.#parts = parts;
  }

  /**
   * Runs a function.
   * @returns its result as JSON text
   * @throws functionFailed (400), functionTimeout (503), unavailable, outcomeUnknown; as `find`
   */
  async run(system: FunctionSystem, found: FoundFunction, given: RunInput): Promise<string> {
    const { timeLimit, hooks, log } = this.#parts;
    const parts = { timeLimit, hooks, log, threads: this.threads, shutdown: this.#shutdown.signal };
    let current: FoundFunction | null = found;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && current; attempt++) {
      const result = await runFunction(parts, system, current, given);
      if (result !== undefined) return result;
      current = await this.find(found.name, system.appId);
    }
    return fail(current ? 'internal' : 'userFunctionNotFound');
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
