import { setTimeout as wait } from 'node:timers/promises';
import { isPassing, isTimeout } from '../../errors/fail.ts';
import { Backlog, type Batch, type Busy } from '../queue/backlog.ts';
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

/** Milliseconds between two reads of the queue while jobs are at work, at least: many that came meanwhile are read at once. */
const MIN_READ_INTERVAL_MS = 10;
/** Reads of records for a schedule that may take too long, before its run ends. */
const MAX_TIMEOUTS = 5;

/** What a runner is told of the world. */
export interface RunnerSettings extends Pick<JobContext, 'system' | 'parts'> {
  readonly processes: LiveProcesses;
  /** Keeps the system open until the answer is called. */
  hold(): () => void;
  /**
   * Nothing is left to do.
   * @param nextDue when a job that waits for its time is due, on the clock that never goes back
   */
  idle(nextDue: number | null): void;
}

/** Works off the jobs of one system that are this process's (docs/adr/0012). It never fails: what it meets is logged and tried again. */
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
  /** Jobs that are read and not done. */
  readonly #held = new Set<string>();
  readonly #before = new WeakMap<Job, StoredSnapshot>();
  /** Jobs that ended while the queue was read, which may have found them still. */
  #endedMeanwhile: string[] | undefined;
  /** Records whose jobs went back into the queue while it was read: of what was found of them the first may be missing. */
  readonly #putBack = new Set<string>();
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
    const { system, parts } = settings;
    this.#settings = settings;
    this.#outage = outageOf(system.store);
    this.#context = {
      ...{ system, parts, calls: new Calls() },
      ...{ isEnough: () => this.#isClosed, isOver: () => this.#isOver, queued: () => this.#look() },
    };
    this.#backlog = new Backlog(system.store);
    this.#atWork = new KeyedQueue((job) => this.#work(job), {
      left: (ids) => this.#let(ids.filter((id) => !this.#deletes.has(id))),
      freed: (isCut) => (isCut ? this.#look() : this.#wakeUp.set()),
    });
    this.#retryable = new RetryableJobs(this.#context, (id) => {
      this.#let([id]);
      this.#look();
    });
    this.#deletes = new BatchedDeletes(system.store, (ids) => {
      this.#let(ids);
      this.#wakeUp.set();
    });
  }

  /** Something may be in the queue. */
  wake(): void {
    if (this.#isClosed) return;
    this.#look();
    if (this.#loop || this.#isHeld) return;
    this.#release = this.#settings.hold();
    this.#loop = this.#run().finally(() => this.#stopped());
  }

  /** Whether jobs of processes that are gone may be in the queue, which come before later ones of their records. */
  set hasOrphans(hasOrphans: boolean) {
    this.#hasOrphans = hasOrphans;
  }

  /** Whether what is queued waits: who has the system go on wakes the runner. */
  get #isHeld(): boolean {
    return this.#settings.system.isHeld === true;
  }

  get isAtWork(): boolean {
    return this.#loop !== undefined;
  }

  #look(): void {
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
        if (this.#outage.isKnown) await this.#untilBack();
        const pause = this.#rest(performance.now());
        if (pause === 'done') return;
        if (pause === 'read') await this.#read();
        else await this.#wakeUp.wait(pause);
        failures = 0;
      } catch (error) {
        if (this.#isClosed) return;
        this.#isDirty = true;
        if (await this.#outage.isCauseOf(error)) continue;
        this.#tell(error, 'the queue of triggers could not be read');
        await this.#unlessClosed(backoff(failures++));
      }
  }

  /** Nothing is begun while the store is away. */
  async #untilBack(): Promise<void> {
    await this.#outage.sleep(() => this.#isClosed);
    this.#backoff.back(performance.now());
    this.#isDirty = true;
  }

  /** What to do next: read the queue, or wait for so many milliseconds, or until something happens, or nothing. */
  #rest(now: number): 'read' | 'done' | number | null {
    if (this.#isHeld) return this.#held.size === 0 ? 'done' : null;
    const pauses = this.#backoff.end(now);
    const isDue = this.#nextDue !== null && this.#nextDue <= now;
    if (pauses.isAny || isDue) this.#isDirty = true;
    if (isDue) this.#nextDue = null;
    const times = [pauses.next, this.#nextDue].filter((at) => at !== null).map((at) => at - now);
    if (this.#isDirty && this.#atWork.isHungry && !this.#backoff.areMany) {
      const since = performance.now() - this.#readAt;
      const between = this.#held.size === 0 ? 0 : Math.max(MIN_READ_INTERVAL_MS, 2 * this.#readTook);
      if (since >= between) return 'read';
      times.push(between - since);
    }
    if (!this.#isDirty && this.#held.size === 0 && pauses.next === null) return 'done';
    return times.length === 0 ? null : Math.max(1, Math.min(...times));
  }

  async #read(): Promise<void> {
    const began = performance.now();
    this.#isDirty = false;
    this.#endedMeanwhile = [];
    this.#putBack.clear();
    let batch: Batch;
    try {
      batch = await this.#backlog.read(Date.now(), this.#busy(), () => this.#isShared());
    } finally {
      for (const id of this.#endedMeanwhile) this.#held.delete(id);
      this.#endedMeanwhile = undefined;
      this.#readAt = performance.now();
      this.#readTook = this.#readAt - began;
    }
    if (this.#isClosed) return;
    if (this.#isHeld) this.#isDirty = true;
    else this.#take(batch);
  }

  #take({ jobs, before, later, isLaterLeft, blocked, isMore, nextDue }: Batch): void {
    const now = performance.now();
    for (const job of jobs) {
      if (this.#isPutBack(job) || !this.#atWork.add(job)) continue;
      this.#held.add(job.id);
      const snapshot = job.beforeId === null ? undefined : before.get(job.beforeId);
      if (snapshot) this.#before.set(job, snapshot);
    }
    for (const job of later) {
      this.#held.add(job.id);
      this.#retryable.begin(job);
    }
    for (const key of blocked) this.#backoff.awaitOther(key, key.slice(key.indexOf('\n') + 1), now);
    const tried = isLaterLeft ? this.#context.parts.breaker.end(now) : null;
    const due = nextDue === null ? null : now + nextDue - Date.now();
    this.#nextDue = due === null || tried === null ? (due ?? tried) : Math.min(due, tried);
    if (isMore) this.#isDirty = true;
    this.#atWork.start();
  }

  #isPutBack(job: Job): boolean {
    const isPutBack = this.#putBack.has(recordKey(job));
    this.#isDirty ||= isPutBack;
    return isPutBack;
  }

  #busy(): Busy {
    return {
      isHeld: (id) => this.#held.has(id),
      held: this.#held,
      isWaiting: (key) => this.#atWork.isFull(key) || this.#backoff.has(key),
      waiting: [...this.#atWork.full(), ...this.#backoff.waiting()],
      laterRoom: (kind) => this.#retryable.room(kind),
    };
  }

  async #isShared(): Promise<boolean> {
    return this.#hasOrphans || this.#settings.processes.areOthers(this.#settings.system.store);
  }

  #let(ids: readonly string[]): void {
    if (this.#endedMeanwhile) this.#endedMeanwhile.push(...ids);
    else for (const id of ids) this.#held.delete(id);
  }

  async #work(job: Job): Promise<Turn> {
    const key = recordKey(job);
    const turn = await this.#tried(job, key);
    if (turn === 'held') this.#putBack.add(key);
    return turn;
  }

  async #tried(job: Job, key: string): Promise<Turn> {
    // It is read again when the store is back, or the system goes on.
    if (this.#outage.isKnown || this.#isHeld) return 'held';
    try {
      const isWhole = job.kind === 'schedule' ? await this.#expand(job, key) : await this.#write(job, key);
      if (!isWhole) return 'held';
      this.#backoff.succeed(key);
      return 'next';
    } catch (error) {
      if (error instanceof JobLost) return 'held';
      const cause = error instanceof JobPaused ? error.cause : error;
      const isOutage = await this.#outage.isCauseOf(cause);
      const why = isOutage ? 'outage' : isTimeout(cause) ? 'timeout' : isPassing(cause) ? 'passing' : 'fault';
      this.#backoff.fail(key, job.objectId, performance.now(), why);
      if (cause !== undefined && !this.#isClosed) this.#tell(cause, 'a job of triggers has to wait');
      return 'held';
    }
  }

  async #expand(job: Job, key: string): Promise<boolean> {
    const { system, parts } = this.#context;
    await parts.expand(system, job, this.#backoff.failures(key).timeouts >= MAX_TIMEOUTS);
    this.#look();
    return true;
  }

  async #write(job: Job, key: string): Promise<boolean> {
    const outcome = await runWriteJob(this.#context, job, this.#before.get(job) ?? null, this.#backoff.failures(key));
    if (outcome === 'idle') this.#deletes.add(job);
    return outcome !== 'stopped';
  }

  /** Of what passes the engine tells. */
  #tell(error: unknown, what: string): void {
    const { parts, system } = this.#settings;
    if (!isPassing(error)) parts.conditions.met(what, { app: system.appId }, error);
  }

  async #unlessClosed(pause: number): Promise<void> {
    const until = performance.now() + pause;
    while (!this.#isClosed && performance.now() < until) await wait(Math.min(100, pause));
  }

  /**
   * Begins nothing more, and waits for the steps that are under way. What is left stays in the queue.
   * @param atMost milliseconds
   */
  async close(atMost: number): Promise<void> {
    const until = performance.now() + atMost;
    this.#isClosed = true;
    this.#atWork.stop();
    this.#wakeUp.set();
    const isQuiet = () => this.#loop === undefined && this.#atWork.isQuiet && this.#retryable.isQuiet && this.#deletes.isQuiet;
    while (!isQuiet() && performance.now() < until) await wait(10);
    this.#isOver = true;
    this.#deletes.stop();
    this.#release?.();
    this.#release = undefined;
  }
}
