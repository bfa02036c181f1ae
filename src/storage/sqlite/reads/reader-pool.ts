import { availableParallelism } from 'node:os';
import { serviceError } from '../../../errors/fail.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Conditions, Observations } from '../../../observe/index.ts';
import type { FindResult } from '../../port.ts';
import { Recovery } from '../../recovery.ts';
import type { ResolveInclude } from '../../sql/reads/read-plan.ts';
import { FairQueue } from './fair-queue.ts';
import type { FindPlans, MaintenanceResult, MaintenanceTask } from './protocol.ts';
import { ReadRequest } from './read-request.ts';
import { WorkerHandle } from './worker-handle.ts';

/** Limits of the number of reader threads. Threads are started when needed. */
interface ThreadBounds {
  /** For all systems together. */
  readonly shared: number;
  /** Including extra threads for systems without active reads: the shared threads may be busy for as long as a read may take. */
  readonly all: number;
  /** Idle time in milliseconds after which an extra thread is ended. */
  readonly idle: number;
}

const THREADS = Math.max(4, availableParallelism());
const defaultBounds: ThreadBounds = { shared: THREADS, all: 2 * THREADS, idle: MINUTE_MS };

/** Maximum characters of large records that wait on threads for their clients. Beyond it, the client that has been idle longest loses its answer. */
const MAX_HELD_CHARS = 64 * 1024 * 1024;

/** Condition: a thread cannot be started; reads wait for the existing ones, or fail with `unavailable`. */
const NOT_STARTED = 'a reader thread cannot be started';

/** Reports a programming error in a reader thread (never shown to the client). */
export type ReportFault = (fault: string) => void;

/**
 * The reader threads of a process, shared by all its systems. One system gets at most all but one of the shared threads, and one without active reads
 * gets an extra thread if these are busy, so that slow queries of some systems cannot delay another's. Waiting reads of several systems take turns
 * (fair-queue.ts).
 */
export class ReaderPool {
  readonly #timeLimit: number;
  readonly #report: ReportFault;
  readonly #bounds: ThreadBounds;
  readonly #conditions: Pick<Conditions, 'met' | 'over'> | undefined;
  readonly #observations: Observations | undefined;
  readonly #threads = new Set<WorkerHandle>();
  readonly #waiting = new FairQueue<ReadRequest>();
  /** Detects the end of `NOT_STARTED` without a request: the process may never need another thread. */
  readonly #recovery = new Recovery(
    () => this.#findsThread(),
    () => this.#conditions?.over({}, NOT_STARTED),
  );
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param timeLimit time limit of a query in milliseconds (QUERY_TIMEOUT_MS) */
  constructor(
    timeLimit: number,
    report: ReportFault,
    bounds = defaultBounds,
    conditions?: Pick<Conditions, 'met' | 'over'>,
    observations?: Observations,
  ) {
    this.#timeLimit = timeLimit;
    this.#report = report;
    this.#bounds = bounds;
    this.#conditions = conditions;
    this.#observations = observations;
  }

  /** Number of threads. */
  get size(): number {
    return this.#threads.size;
  }

  /**
   * Runs the plans of a query.
   * @param onFailed called with each error that ends it, even in the middle of a long answer
   * @param until aborts it if nothing has been answered yet
   * @throws timeout after the time limit, in the queue or running; unavailable
   */
  find(
    path: string,
    plans: FindPlans,
    resolve: ResolveInclude,
    onFailed?: (error: unknown) => void,
    until?: AbortSignal,
  ): Promise<FindResult> {
    if (this.#closed) return Promise.reject(serviceError('unavailable'));
    if (until?.aborted) return Promise.reject(serviceError('timeout'));
    const task = new ReadRequest(path, plans, resolve, this.#timeLimit);
    if (onFailed) task.onFailed = onFailed;
    this.#waiting.add(task);
    task.onGivenUp = () => this.#waiting.remove(task);
    if (until) endWith(until, task);
    this.#dispatch();
    return task.result;
  }

  /** Number of threads that execute a read. */
  get busy(): number {
    let count = 0;
    for (const thread of this.#threads) if (thread.busyWith !== null) count++;
    return count;
  }

  /** Starts a thread in advance, which takes some 100 ms. */
  warmUp(): void {
    if (!this.#closed) this.#idleThread(this.#bounds.shared);
  }

  /** Closes the threads' connections to a file; resolves when those in use are closed too. */
  async forget(path: string): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.maintain('forget', path)));
  }

  /** Ends all reads of a file with `unavailable` and closes the threads' connections to it. */
  async end(path: string): Promise<void> {
    for (const task of this.#waiting.clear(path)) task.fail(serviceError('unavailable'));
    for (const thread of this.#threads)
      for (const task of thread.of(path)) {
        task.fail(serviceError('unavailable'));
        task.onCancelled();
      }
    await this.forget(path);
  }

  /** Whether maintenance work would start immediately. */
  get hasIdleThread(): boolean {
    return !this.#closed && [...this.#threads].some((thread) => thread.busyWith === null);
  }

  /** Runs maintenance work on a file on a thread; on the event loop it would delay requests. Never rejects. */
  async maintain(type: Exclude<MaintenanceTask['type'], 'forget'>, path: string): Promise<MaintenanceResult> {
    const thread = this.#closed ? undefined : (this.#idleThread(this.#bounds.shared) ?? [...this.#threads][0]);
    return thread?.maintain(type, path) ?? {};
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#recovery.close();
    clearInterval(this.#idleTimer);
    for (const task of this.#waiting.clear()) task.fail(serviceError('unavailable'));
    await Promise.all([...this.#threads].map((thread) => thread.close()));
  }

  #dispatch(): void {
    for (;;) {
      const path = this.#waiting.turn((of) => this.#atWork(of), this.#bounds.shared - 1);
      if (path === undefined) return;
      const thread = this.#idleThread(this.#atWork(path) === 0 ? this.#bounds.all : this.#bounds.shared);
      const task = thread && this.#waiting.take(path);
      if (!task) return;
      this.#observations?.observe({ kind: 'read', lane: 'thread', waitMs: performance.now() - task.queuedAt });
      thread.start(task);
    }
  }

  /** Keeps the records that wait for slow clients within the limit. */
  #dropSlowClients(): void {
    const parked = [...this.#threads].flatMap((thread) => [...thread.parked()]).filter(({ held }) => held > 0);
    let held = parked.reduce((sum, task) => sum + task.held, 0);
    for (const task of parked.sort((a, b) => a.parkedAt - b.parkedAt)) {
      if (held <= MAX_HELD_CHARS) return;
      held -= task.held;
      task.held = 0;
      task.onCancelled();
    }
  }

  #atWork(path: string): number {
    let count = 0;
    for (const thread of this.#threads) if (thread.busyWith === path) count++;
    return count;
  }

  /** @param maxBusy busy threads; if there are as many, no thread is returned */
  #idleThread(maxBusy: number): WorkerHandle | undefined {
    const idle = [...this.#threads].filter((thread) => thread.busyWith === null);
    if (this.#threads.size - idle.length >= maxBusy) return undefined;
    if (idle[0]) return idle[0];
    try {
      return this.#newThread();
    } catch (error) {
      // The operating system refuses more threads; the existing ones continue.
      this.#notStarted(error);
      return undefined;
    }
  }

  #notStarted(error: unknown): void {
    this.#conditions?.met(NOT_STARTED, {}, error);
    this.#recovery.met();
  }

  /** @throws if no thread could take a read now; it starts one for that */
  async #findsThread(): Promise<void> {
    if (!this.#idleThread(this.#bounds.shared)?.isStarted) throw serviceError('unavailable');
  }

  #newThread(): WorkerHandle {
    const thread = new WorkerHandle(this.#report, {
      onIdle: () => this.#dispatch(),
      onParked: () => this.#dropSlowClients(),
      onGone: () => {
        this.#threads.delete(thread);
        if (!this.#closed) this.#dispatch();
      },
      onStarted: () => this.#conditions?.over({}, NOT_STARTED),
      onNotStarted: (error) => this.#notStarted(error),
    });
    this.#threads.add(thread);
    if (this.#threads.size > this.#bounds.shared)
      this.#idleTimer ??= setInterval(() => this.#endIdle(), this.#bounds.idle).unref();
    return thread;
  }

  #endIdle(): void {
    const since = performance.now() - this.#bounds.idle;
    for (const thread of this.#threads) {
      if (this.#threads.size <= this.#bounds.shared) break;
      if (thread.unusedSince > since) continue;
      this.#threads.delete(thread);
      void thread.close();
    }
    if (this.#threads.size > this.#bounds.shared) return;
    clearInterval(this.#idleTimer);
    this.#idleTimer = undefined;
  }
}

/** Ends a request when a signal is aborted before it has answered, whether it waits or runs. */
function endWith(until: AbortSignal, task: ReadRequest): void {
  const end = () => {
    task.fail(serviceError('timeout'));
    task.onGivenUp();
    task.onCancelled();
  };
  until.addEventListener('abort', end, { once: true });
  const over = () => until.removeEventListener('abort', end);
  task.result.then(over, over);
}
