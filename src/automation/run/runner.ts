import { setTimeout as wait } from 'node:timers/promises';
import { isPassing, isTimeout } from '../../errors/fail.ts';
import { traced } from '../../observe/index.ts';
import { type ActiveJobs, Backlog, type Batch } from '../queue/backlog.ts';
import { type Job, recordKey, type StoredSnapshot } from '../queue/index.ts';
import type { LiveProcesses } from '../queue/live-processes.ts';
import { AutoResetEvent } from './auto-reset-event.ts';
import { RecordBackoff } from './backoff.ts';
import { BatchedDeletes } from './batched-deletes.ts';
import { Calls } from './calls.ts';
import { KeyedQueue, type Turn } from './keyed-queue.ts';
import { type Outage, outageOf } from './outage.ts';
import { backoff, JobLost, JobPaused } from './outcome.ts';
import { RetryableJobs } from './retryable-jobs.ts';
import type { JobContext } from './services.ts';
import { runWriteJob } from './write-job.ts';

/** Minimum interval between two reads of the queue while jobs are running, so that one read loads many. */
const MIN_READ_INTERVAL_MS = 10;
/** Timeouts of reading a schedule's records after which the run ends. */
const MAX_TIMEOUTS = 5;

/** What a runner needs of its environment. */
export interface RunnerSettings extends Pick<JobContext, 'system' | 'services'> {
  readonly processes: LiveProcesses;
  /** Keeps the system open until the returned function is called. */
  hold(): () => void;
  /**
   * Nothing is left to do.
   * @param nextDue when the next retryable job is due, on the monotonic clock
   */
  idle(nextDue: number | null): void;
}

/** Processes the jobs of one system that this process owns (adr/0012). Never fails: errors are logged and retried. */
export class Runner {
  readonly #settings: RunnerSettings;
  readonly #backlog: Backlog;
  readonly #atWork: KeyedQueue;
  readonly #retryable: RetryableJobs;
  readonly #deletes: BatchedDeletes;
  readonly #backoff = new RecordBackoff();
  readonly #wakeUp = new AutoResetEvent();
  readonly #context: JobContext;
  readonly #outage: Outage;
  /** Jobs that are loaded and not done. */
  readonly #loaded = new Set<string>();
  readonly #before = new WeakMap<Job, StoredSnapshot>();
  /** Jobs that ended during a read of the queue, which may still contain them. */
  #endedMeanwhile: string[] | undefined;
  /** Records whose jobs returned to the queue during a read. Their earliest jobs may be missing in the result. */
  readonly #requeued = new Set<string>();
  #isDirty = false;
  #hasOrphans = true;
  #nextDue: number | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #readTook = 0;
  #loop: Promise<void> | undefined;
  #release: (() => void) | undefined;
  #isClosed = false;
  #isOver = false;

  constructor(settings: RunnerSettings) {
    const { system, services } = settings;
    this.#settings = settings;
    this.#outage = outageOf(system.store);
    this.#context = {
      ...{ system, services, calls: new Calls() },
      ...{ shouldStop: () => this.#isClosed, isAborted: () => this.#isOver, queued: () => this.#markDirty() },
    };
    this.#backlog = new Backlog(system.store);
    this.#atWork = new KeyedQueue((job) => this.#work(job), {
      left: (ids) => this.#unload(ids.filter((id) => !this.#deletes.has(id))),
      freed: (isCut) => (isCut ? this.#markDirty() : this.#wakeUp.set()),
    });
    this.#retryable = new RetryableJobs(this.#context, (id) => {
      this.#unload([id]);
      this.#markDirty();
    });
    this.#deletes = new BatchedDeletes(system.store, (ids) => {
      this.#unload(ids);
      this.#wakeUp.set();
    });
  }

  /** Starts processing: there may be jobs in the queue. */
  wake(): void {
    if (this.#isClosed) return;
    this.#markDirty();
    if (this.#loop || this.#isHeld) return;
    this.#release = this.#settings.hold();
    this.#loop = this.#run().finally(() => this.#stopped());
  }

  /** Whether the queue may contain jobs of ended processes, which precede later ones of their records. */
  set hasOrphans(hasOrphans: boolean) {
    this.#hasOrphans = hasOrphans;
  }

  /** Whether the system is held. Resuming it wakes the runner. */
  get #isHeld(): boolean {
    return this.#settings.system.isHeld === true;
  }

  get isAtWork(): boolean {
    return this.#loop !== undefined;
  }

  #markDirty(): void {
    this.#isDirty = true;
    this.#wakeUp.set();
  }

  #stopped(): void {
    this.#loop = undefined;
    if (this.#isClosed) return;
    this.#release?.();
    this.#release = undefined;
    if (this.#isDirty && !this.#isHeld) this.wake();
    else this.#settings.idle(this.#isHeld ? null : this.#nextDue);
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#isClosed; )
      try {
        if (this.#outage.isKnown) await this.#waitForStore();
        const pause = this.#nextStep(performance.now());
        if (pause === 'done') return;
        if (pause === 'read') await this.#read();
        else await this.#wakeUp.wait(pause);
        failures = 0;
      } catch (error) {
        if (this.#isClosed) return;
        this.#isDirty = true;
        if (await this.#outage.isCauseOf(error)) continue;
        this.#report(error, 'the queue of triggers could not be read');
        await this.#delay(backoff(failures++));
      }
  }

  /** Waits while the store is unavailable. */
  async #waitForStore(): Promise<void> {
    await this.#outage.sleep(() => this.#isClosed);
    this.#backoff.storeRecovered(performance.now());
    this.#isDirty = true;
  }

  /** Decides the next step: read the queue, wait for some milliseconds or for a signal (`null`), or stop. */
  #nextStep(now: number): 'read' | 'done' | number | null {
    if (this.#isHeld) return this.#loaded.size === 0 ? 'done' : null;
    const expiry = this.#backoff.expire(now);
    const isDue = this.#nextDue !== null && this.#nextDue <= now;
    if (expiry.hasExpired || isDue) this.#isDirty = true;
    if (isDue) this.#nextDue = null;
    const waits = [expiry.next, this.#nextDue].filter((at) => at !== null).map((at) => at - now);
    if (this.#isDirty && this.#atWork.isHungry && !this.#backoff.isOverloaded) {
      const since = performance.now() - this.#readAt;
      const between = this.#loaded.size === 0 ? 0 : Math.max(MIN_READ_INTERVAL_MS, 2 * this.#readTook);
      if (since >= between) return 'read';
      waits.push(between - since);
    }
    if (!this.#isDirty && this.#loaded.size === 0 && expiry.next === null) return 'done';
    return waits.length === 0 ? null : Math.max(1, Math.min(...waits));
  }

  async #read(): Promise<void> {
    const began = performance.now();
    this.#isDirty = false;
    this.#endedMeanwhile = [];
    this.#requeued.clear();
    let batch: Batch;
    try {
      batch = await this.#backlog.read(Date.now(), this.#activeJobs(), () => this.#isShared());
    } finally {
      for (const id of this.#endedMeanwhile) this.#loaded.delete(id);
      this.#endedMeanwhile = undefined;
      this.#readAt = performance.now();
      this.#readTook = this.#readAt - began;
    }
    if (this.#isClosed) return;
    if (this.#isHeld) this.#isDirty = true;
    else this.#take(batch);
  }

  #take({ jobs, before, retryable, hasMoreRetryable, blocked, hasMore, nextDue }: Batch): void {
    const now = performance.now();
    for (const job of jobs) {
      if (this.#isRequeued(job) || !this.#atWork.add(job)) continue;
      this.#loaded.add(job.id);
      const snapshot = job.beforeId === null ? undefined : before.get(job.beforeId);
      if (snapshot) this.#before.set(job, snapshot);
    }
    for (const job of retryable) {
      this.#loaded.add(job.id);
      this.#retryable.begin(job);
    }
    for (const key of blocked) this.#backoff.awaitOther(key, key.slice(key.indexOf('\n') + 1), now);
    const probe = hasMoreRetryable ? this.#context.services.breaker.nextProbe(now) : null;
    const due = nextDue === null ? null : now + nextDue - Date.now();
    this.#nextDue = due === null || probe === null ? (due ?? probe) : Math.min(due, probe);
    if (hasMore) this.#isDirty = true;
    this.#atWork.start();
  }

  #isRequeued(job: Job): boolean {
    const isRequeued = this.#requeued.has(recordKey(job));
    this.#isDirty ||= isRequeued;
    return isRequeued;
  }

  #activeJobs(): ActiveJobs {
    return {
      isLoaded: (id) => this.#loaded.has(id),
      loaded: this.#loaded,
      isWaiting: (key) => this.#atWork.isFull(key) || this.#backoff.has(key),
      waiting: [...this.#atWork.full(), ...this.#backoff.waiting()],
      retryableSlots: (kind) => this.#retryable.freeSlots(kind),
    };
  }

  async #isShared(): Promise<boolean> {
    return this.#hasOrphans || this.#settings.processes.hasOthers(this.#settings.system.store);
  }

  #unload(ids: readonly string[]): void {
    if (this.#endedMeanwhile) this.#endedMeanwhile.push(...ids);
    else for (const id of ids) this.#loaded.delete(id);
  }

  async #work(job: Job): Promise<Turn> {
    const key = recordKey(job);
    const turn = await this.#execute(job, key);
    if (turn === 'requeue') this.#requeued.add(key);
    return turn;
  }

  async #execute(job: Job, key: string): Promise<Turn> {
    // The job is read again when the store is back or the system is resumed.
    if (this.#outage.isKnown || this.#isHeld) return 'requeue';
    try {
      const attributes = { 'rds.system': this.#context.system.appId, 'rds.job': job.kind };
      const run = () => (job.kind === 'schedule' ? this.#expand(job, key) : this.#write(job, key));
      const isWhole = await traced('trigger job', attributes, run, { isRoot: true });
      if (!isWhole) return 'requeue';
      this.#backoff.succeed(key);
      return 'next';
    } catch (error) {
      if (error instanceof JobLost) return 'requeue';
      const cause = error instanceof JobPaused ? error.cause : error;
      const isOutage = await this.#outage.isCauseOf(cause);
      const why = isOutage ? 'outage' : isTimeout(cause) ? 'timeout' : isPassing(cause) ? 'passing' : 'fault';
      this.#backoff.fail(key, job.objectId, performance.now(), why);
      if (cause !== undefined && !this.#isClosed) this.#report(cause, 'a job of triggers has to wait');
      return 'requeue';
    }
  }

  async #expand(job: Job, key: string): Promise<boolean> {
    const { system, services } = this.#context;
    await services.expand(system, job, this.#backoff.failures(key).timeouts >= MAX_TIMEOUTS);
    this.#markDirty();
    return true;
  }

  async #write(job: Job, key: string): Promise<boolean> {
    const outcome = await runWriteJob(this.#context, job, this.#before.get(job) ?? null, this.#backoff.failures(key));
    if (outcome === 'idle') this.#deletes.add(job);
    return outcome !== 'stopped';
  }

  /** Logs a fault. Transient errors are logged by the engine. */
  #report(error: unknown, what: string): void {
    const { services, system } = this.#settings;
    if (!isPassing(error)) services.conditions.met(what, { app: system.appId }, error);
  }

  async #delay(pause: number): Promise<void> {
    const until = performance.now() + pause;
    while (!this.#isClosed && performance.now() < until) await wait(Math.min(100, pause));
  }

  /**
   * Starts nothing more, and waits for the current steps. The rest stays in the queue.
   * @param maxMs milliseconds
   */
  async close(maxMs: number): Promise<void> {
    const until = performance.now() + maxMs;
    this.#isClosed = true;
    this.#atWork.stop();
    this.#wakeUp.set();
    const isQuiet = () => this.#loop === undefined && this.#atWork.isIdle && this.#retryable.isIdle && this.#deletes.isIdle;
    while (!isQuiet() && performance.now() < until) await wait(10);
    this.#isOver = true;
    this.#deletes.stop();
    this.#release?.();
    this.#release = undefined;
  }
}
