import { availableParallelism } from 'node:os';
import { serviceError } from '../../../errors/fail.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Conditions } from '../../../observe/index.ts';
import type { FindResult } from '../../port.ts';
import { Recovery } from '../../recovery.ts';
import type { ResolveInclude } from '../../sql/reads/read-plan.ts';
import { FairQueue } from './fair-queue.ts';
import type { FindPlans, MaintenanceResult, MaintenanceTask } from './protocol.ts';
import { ReadRequest } from './read-request.ts';
import { WorkerHandle } from './worker-handle.ts';

/** How many reader threads there are. They are made when they are first needed. */
interface ThreadBounds {
  /** For all systems together. */
  readonly shared: number;
  /** With those that systems get that have nothing at work yet: the shared ones may be busy with others for as long as a read may take. */
  readonly all: number;
  /** Milliseconds without work after which a thread is ended that the shared bound has no place for. */
  readonly idle: number;
}

const THREADS = Math.max(4, availableParallelism());
const usual: ThreadBounds = { shared: THREADS, all: 2 * THREADS, idle: MINUTE_MS };

/**
 * Characters of large records that wait on threads for their clients, beyond which the client that has taken nothing for the longest time loses its answer.
 */
const MAX_HELD = 64 * 1024 * 1024;

/** The condition in which reads wait for threads that there are, or are told that nothing is available. */
const NOT_STARTED = 'a reader thread cannot be started';

/** Reports a fault of ours in a reader thread (never shown to the client). */
export type ReportFault = (fault: string) => void;

/**
 * The reader threads of a process, shared by all its systems. One system takes all shared threads but one at the most, and one with nothing
 * at work gets a further thread where these are busy, so that slow queries of some cannot delay another's; where reads wait, systems take
 * turns (fair-queue.ts).
 */
export class ReaderPool {
  readonly #timeLimit: number;
  readonly #report: ReportFault;
  readonly #bounds: ThreadBounds;
  readonly #conditions: Pick<Conditions, 'met' | 'over'> | undefined;
  readonly #threads = new Set<WorkerHandle>();
  readonly #waiting = new FairQueue<ReadRequest>();
  /** Looks for the end of `NOT_STARTED` where no request does: a process may never need a further thread again. */
  readonly #recovery = new Recovery(
    () => this.#findsThread(),
    () => this.#conditions?.over({}, NOT_STARTED),
  );
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param timeLimit milliseconds of work that a query may take (QUERY_TIMEOUT_MS) */
  constructor(timeLimit: number, report: ReportFault, bounds = usual, conditions?: Pick<Conditions, 'met' | 'over'>) {
    this.#timeLimit = timeLimit;
    this.#report = report;
    this.#bounds = bounds;
    this.#conditions = conditions;
  }

  /** How many threads there are. */
  get size(): number {
    return this.#threads.size;
  }

  /**
   * Runs the jobs of a query.
   * @param onFailed told of each error that it ends with, also in the middle of a long answer
   * @param until ends them where they have answered nothing yet
   * @throws timeout after the time limit, in the queue or at work; unavailable
   */
  find(
    path: string,
    jobs: FindPlans,
    resolve: ResolveInclude,
    onFailed?: (error: unknown) => void,
    until?: AbortSignal,
  ): Promise<FindResult> {
    if (this.#closed) return Promise.reject(serviceError('unavailable'));
    if (until?.aborted) return Promise.reject(serviceError('timeout'));
    const task = new ReadRequest(path, jobs, resolve, this.#timeLimit);
    if (onFailed) task.onFailed = onFailed;
    this.#waiting.add(task);
    task.onGivenUp = () => this.#waiting.remove(task);
    if (until) endWith(until, task);
    this.#dispatch();
    return task.result;
  }

  /** Starts a thread before it is needed, which takes some 100 ms. */
  warmUp(): void {
    if (!this.#closed) this.#idleThread(this.#bounds.shared);
  }

  /** Closes the threads' connections to a file; resolves when those in use are closed, too. */
  async forget(path: string): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.maintain('forget', path)));
  }

  /** Ends all reads of a file and closes the threads' connections to it. Reads under way end with `unavailable`. */
  async end(path: string): Promise<void> {
    for (const task of this.#waiting.clear(path)) task.fail(serviceError('unavailable'));
    for (const thread of this.#threads)
      for (const task of thread.of(path)) {
        task.fail(serviceError('unavailable'));
        task.onCancelled();
      }
    await this.forget(path);
  }

  /** Whether an errand would be begun at once. */
  get hasIdleThread(): boolean {
    return !this.#closed && [...this.#threads].some((thread) => thread.busyWith === null);
  }

  /** Has work on a file done on a thread: on the event loop it would hold up requests for as long as it takes. Never rejects. */
  async errand(type: Exclude<MaintenanceTask['type'], 'forget'>, path: string): Promise<MaintenanceResult> {
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
      thread.start(task);
    }
  }

  /** Keeps what waits for slow clients within its bound. */
  #letGo(): void {
    const parked = [...this.#threads].flatMap((thread) => [...thread.parked()]).filter(({ held }) => held > 0);
    let held = parked.reduce((sum, task) => sum + task.held, 0);
    for (const task of parked.sort((a, b) => a.parkedAt - b.parkedAt)) {
      if (held <= MAX_HELD) return;
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

  /** @param most busy threads, beyond which there is none */
  #idleThread(most: number): WorkerHandle | undefined {
    const idle = [...this.#threads].filter((thread) => thread.busyWith === null);
    if (this.#threads.size - idle.length >= most) return undefined;
    if (idle[0]) return idle[0];
    try {
      return this.#newThread();
    } catch (error) {
      // The system has no more threads; those that there are go on.
      this.#notStarted(error);
      return undefined;
    }
  }

  #notStarted(error: unknown): void {
    this.#conditions?.met(NOT_STARTED, {}, error);
    this.#recovery.met();
  }

  /** @throws where no thread could take a read at once; one that is started for it can soon */
  async #findsThread(): Promise<void> {
    if (!this.#idleThread(this.#bounds.shared)?.isStarted) throw serviceError('unavailable');
  }

  #newThread(): WorkerHandle {
    const thread = new WorkerHandle(this.#report, {
      onIdle: () => this.#dispatch(),
      onParked: () => this.#letGo(),
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

/** Ends a task where a signal says so before it has answered, in the queue or at work. */
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
