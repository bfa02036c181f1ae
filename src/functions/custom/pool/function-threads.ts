import { availableParallelism } from 'node:os';
import { FairQueue } from '../../../admission/fair-queue.ts';
import { RoundRobin } from '../../../admission/round-robin.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Logger } from '../../../observe/index.ts';
import type { FoundFile } from '../loading/directory.ts';
import { LOADING_TOO_LONG } from '../loading/importer.ts';
import type { FilesOfVersion, LoadOutcome } from '../loading/loader.ts';
import { receivedError, type ThreadLogLine } from '../thread/protocol.ts';
import type { FoundFunction } from './found-function.ts';
import { FunctionThread } from './function-thread.ts';
import type { ThreadOptions } from './start-worker.ts';
import type { ThreadCall } from './thread-call.ts';
import { type LoadOnThread, threadLost } from './thread-loads.ts';

/** Limits of the threads of a process. They are started when needed. */
const THREADS = Math.max(4, availableParallelism());
const BOUNDS = {
  /** For all systems together. */
  shared: THREADS,
  /** Including those for systems without a running call, when the shared ones are busy. */
  all: 2 * THREADS,
  /** Threads on which one system may have calls. */
  ofSystem: THREADS - 1,
  /** Loads of files that were lost together, each on a thread of its own. */
  lonelyLoads: 3,
};
/** Milliseconds without a call after which a thread is ended. */
const IDLE_MS = MINUTE_MS;
/** Milliseconds of a call from which on its thread takes further calls: it waits for something. Shorter ones have a thread for themselves. */
const SHARED_AFTER_MS = 5;

export interface ThreadsParts extends ThreadOptions {
  readonly log: Logger;
  /** Whether the version in service of a function is an earlier one than that of its file, so that it cannot be loaded any more. */
  readonly isBehind: (name: string) => boolean;
  /** Called when a function has imported files while it ran. */
  readonly onFiles: (name: string, files: FilesOfVersion) => void;
}

/**
 * The threads that run the functions of a process, shared by all its systems. A call gets a thread that has no other one. If all are busy, calls share
 * threads whose calls are waiting for something; a thread that is occupied by a loop gets none. One system has calls on all but one thread at most,
 * and one without a running call gets an extra thread.
 */
export class FunctionThreads {
  readonly #parts: ThreadsParts;
  readonly #threads = new Set<FunctionThread>();
  /** Threads that get no further calls. */
  readonly #retired = new Set<FunctionThread>();
  /** Calls that wait for a thread, by system. */
  readonly #waiting = new RoundRobin<unknown, ThreadCall>(({ system }) => system);
  /** Calls whose thread still loads their function. */
  readonly #assigned = new Map<FunctionThread, ThreadCall>();
  readonly #lonelyLoads = new FairQueue({ concurrency: BOUNDS.lonelyLoads, maxWaiting: Number.POSITIVE_INFINITY });
  /** A thread that has just shown that its calls wait. */
  #open: FunctionThread | undefined;
  #probing: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: ThreadsParts) {
    this.#parts = parts;
  }

  /** Number of threads. */
  get size(): number {
    return this.#threads.size;
  }

  /** Whether a thread has loaded this version. */
  hold(found: FoundFunction): boolean {
    return this.#threads.values().some((thread) => thread.holds(found));
  }

  /**
   * Loads a new version of a file, on a thread without calls: its code may never end. Threads that hold the version in service are spared.
   * Never rejects.
   */
  async load(name: string, file: FoundFile): Promise<LoadOutcome<FoundFunction>> {
    const isSpare = (thread: FunctionThread) =>
      thread.hasNoCalls && !this.#assigned.has(thread) && !thread.versions().some((version) => version.name === name);
    const free = [...this.#threads].filter(isSpare);
    const chosen = free.find(({ isLoading }) => isLoading) ?? free[0] ?? this.#newThread();
    const first = await this.#loadOn(chosen, name, file);
    if ('loaded' in first.result || !isDoubtful(first, first.result.failure)) return first;
    const turn = { system: this, caller: '' };
    return this.#lonelyLoads.run(turn, () => this.#loadOn(this.#newThread(), name, file));
  }

  /** Runs a call when a thread is free. Its callbacks tell how it goes. */
  run(call: ThreadCall): void {
    this.#waiting.add(call);
    this.#dispatch();
  }

  /** Takes back a call that still waits. */
  withdraw(call: ThreadCall): void {
    this.#waiting.remove(call);
  }

  /** Ends all threads, and what runs on them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#probing);
    clearInterval(this.#sweeping);
    for (const call of this.#waiting.clear()) call.ended({ kind: 'lost', message: null });
    await Promise.all([...this.#threads, ...this.#retired].map((thread) => thread.close()));
  }

  #dispatch(): void {
    while (this.#startOne());
    if (!this.#waiting.isEmpty) this.#probe();
  }

  /** Starts the next call that a thread can take. @returns whether there was one */
  #startOne(): boolean {
    for (const call of this.#waiting.heads()) {
      const thread = this.#threadFor(call);
      if (!thread) continue;
      this.#waiting.take(call.system);
      void this.#start(thread, call);
      return true;
    }
    return false;
  }

  #threadFor({ system, function: called }: ThreadCall): FunctionThread | undefined {
    const isBehind = this.#parts.isBehind(called.name);
    const mine = [...this.#threads].filter((thread) => this.#serves(thread, system));
    const mayHaveMore = mine.length < BOUNDS.ofSystem;
    const open = this.#open;
    if (mayHaveMore) {
      const idle = [...this.#threads].filter((thread) => thread.isIdle && !this.#assigned.has(thread));
      const found = idle.find((thread) => thread.holds(called)) ?? (isBehind ? undefined : idle[0]);
      if (found) return found;
      const most = mine.length === 0 ? BOUNDS.all : BOUNDS.shared;
      if (!isBehind && this.#threads.size < most) return this.#newThread();
    }
    if (!open || (isBehind && !open.holds(called)) || !(mayHaveMore || mine.includes(open))) return undefined;
    this.#open = undefined;
    return open;
  }

  #serves(thread: FunctionThread, system: unknown): boolean {
    return this.#assigned.get(thread)?.system === system || thread.systems().some((other) => other === system);
  }

  /** Begins a call on a thread, which loads the function first if it has not yet. */
  async #start(thread: FunctionThread, call: ThreadCall): Promise<void> {
    const called = call.function;
    if (!thread.holds(called)) {
      this.#assigned.set(thread, call);
      const { name, file } = called;
      const { result, files, isLost } = await thread.load(name, file);
      this.#assigned.delete(thread);
      if (isLost) {
        this.#waiting.putBack(call);
        this.#dispatch();
        return;
      }
      if ('failure' in result || !isSameVersion(called.files, files)) {
        // The version is known to be sound, unless it has changed, so something is wrong with the thread.
        if ('failure' in result) {
          this.#parts.log.error({ err: result.failure, function: name }, 'a function cannot be loaded on a further thread');
          this.#retire(thread);
        }
        call.ended({ kind: 'outdated' });
        this.#dispatch();
        return;
      }
      thread.note(called);
    }
    if (!call.isGivenUp()) thread.begin(call);
    if (!this.#waiting.isEmpty) this.#dispatch();
  }

  /** Gives no further calls to a thread, and ends it when no caller waits for one. */
  #retire(thread: FunctionThread): void {
    this.#threads.delete(thread);
    this.#retired.add(thread);
    this.#endRetired();
  }

  #endRetired(): void {
    for (const thread of this.#retired) if (thread.isIdle) void thread.close();
  }

  /** Asks threads with longer calls whether they could take another one. */
  #probe(): void {
    for (const thread of this.#threads)
      if (!thread.isIdle && !this.#assigned.has(thread) && thread.busyMs >= SHARED_AFTER_MS) thread.ping();
    this.#probing ??= setTimeout(() => {
      this.#probing = undefined;
      this.#dispatch();
    }, SHARED_AFTER_MS);
  }

  async #loadOn(thread: FunctionThread | undefined, name: string, file: FoundFile): Promise<FirstLoad> {
    if (!thread) return { ...NO_THREAD, result: { failure: threadLost() } };
    const outcome = await thread.load(name, file);
    const { files, result } = outcome;
    if ('failure' in result) return { ...outcome, result };
    const { systems, inputSchema } = result.loaded;
    const loaded: FoundFunction = { name, systems: systems && new Set(systems), inputSchema, file, files };
    thread.note(loaded);
    return { ...outcome, result: { loaded } };
  }

  /** @returns `undefined` if the operating system refuses another one */
  #newThread(): FunctionThread | undefined {
    if (this.#isClosed) return undefined;
    const { log, onFiles } = this.#parts;
    try {
      const thread = new FunctionThread(this.#parts, {
        onLog: (line) => writeLine(log, line),
        onFiles: ({ name, files }) => onFiles(name, files),
        onAlive: () => {
          this.#endRetired();
          this.#open = thread.isIdle || this.#retired.has(thread) ? undefined : thread;
          this.#dispatch();
          this.#open = undefined;
        },
        onFault: (error) => log.error({ err: error }, 'a thread of functions failed'),
        onGone: (unbegun) => {
          this.#threads.delete(thread);
          this.#retired.delete(thread);
          for (const call of unbegun.toReversed()) this.#waiting.putBack(call);
          if (!this.#isClosed) this.#dispatch();
        },
      });
      this.#threads.add(thread);
      this.#sweeping ??= setInterval(() => this.#endIdle(), IDLE_MS / 2).unref();
      return thread;
    } catch (error) {
      log.error({ err: error }, 'a thread of functions cannot be started');
      return undefined;
    }
  }

  #endIdle(): void {
    for (const thread of this.#threads) {
      if (!thread.isIdle || this.#assigned.has(thread) || thread.idleMs < IDLE_MS || this.#isNeeded(thread)) continue;
      this.#threads.delete(thread);
      void thread.close();
    }
    if (this.#threads.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  /** Whether it has a version in service that no other thread can load any more. */
  #isNeeded(thread: FunctionThread): boolean {
    const others = [...this.#threads].filter((other) => other !== thread);
    return thread
      .versions()
      .some((version) => this.#parts.isBehind(version.name) && !others.some((other) => other.holds(version)));
  }
}

/** What came of loading a new version. */
type FirstLoad = Omit<LoadOnThread, 'result'> & LoadOutcome<FoundFunction>;

/** If the operating system refuses a thread. */
const NO_THREAD = { files: [], isLost: true, hadCompany: false, wasUsed: false };

/** Whether something else than the file may be why it was not loaded. */
function isDoubtful({ isLost, hadCompany, wasUsed }: FirstLoad, { name }: Error): boolean {
  return wasUsed || (hadCompany && (isLost || name === LOADING_TOO_LONG));
}

/** Whether the files that both have are the same; a function may import further ones while it runs. */
function isSameVersion(files: FilesOfVersion, others: FilesOfVersion): boolean {
  const stamps = new Map(files);
  return others.length > 0 && others.every(([path, stamp]) => (stamps.get(path) ?? stamp) === stamp);
}

function writeLine(log: Logger, { level, who, text, error, output }: ThreadLogLine): void {
  log[level]({ ...(error && { err: receivedError(error) }), ...who, ...(output && { output }) }, text);
}
