import { setTimeout as wait } from 'node:timers/promises';
import { Backlog, type Batch, type Busy } from '../queue/backlog.ts';
import { type Job, recordKey, type StoredPicture } from '../queue/index.ts';
import type { Peers } from '../queue/peers.ts';
import { Lanes, type Turn } from './lanes.ts';
import { LaterJobs } from './later-jobs.ts';
import { backoff, JobLost } from './outcome.ts';
import type { Place } from './parts.ts';
import { Pauses } from './pauses.ts';
import { Removals } from './removals.ts';
import { Signal } from './signal.ts';
import { runWriteJob } from './write-job.ts';

/** Milliseconds between two reads of the queue while jobs are at work, at least: many that came meanwhile are read at once. */
const BETWEEN_READS = 10;

/** What a runner is told of the world. */
export interface RunnerSettings extends Pick<Place, 'system' | 'parts'> {
  readonly peers: Peers;
  /** Keeps the system open until the answer is called. */
  hold(): () => void;
  /**
   * Nothing is left to do.
   * @param nextDue when a job that waits for its time is due, in milliseconds since 1970
   */
  idle(nextDue: number | null): void;
}

/** Works off the jobs of one system that are this process's (docs/adr/0012). It never fails: what it meets is logged and tried again. */
export class Runner {
  readonly #settings: RunnerSettings;
  readonly #backlog: Backlog;
  readonly #lanes: Lanes;
  readonly #later: LaterJobs;
  readonly #removals: Removals;
  readonly #pauses = new Pauses();
  readonly #signal = new Signal();
  readonly #place: Place;
  /** Jobs that are read and not done. */
  readonly #held = new Set<string>();
  readonly #before = new WeakMap<Job, StoredPicture>();
  /** Jobs that ended while the queue was read, which may have found them still. */
  #endedMeanwhile: string[] | undefined;
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
    this.#place = { system, parts, isEnough: () => this.#isClosed, isOver: () => this.#isOver, queued: () => this.#look() };
    this.#backlog = new Backlog(system.store);
    this.#lanes = new Lanes((job) => this.#work(job), {
      left: (ids) => this.#let(ids.filter((id) => !this.#removals.has(id))),
      freed: (isCut) => (isCut ? this.#look() : this.#signal.set()),
    });
    this.#later = new LaterJobs(this.#place, (id) => {
      this.#let([id]);
      this.#look();
    });
    this.#removals = new Removals(system.store, (ids) => {
      this.#let(ids);
      this.#signal.set();
    });
  }

  /** Something may be in the queue. */
  wake(): void {
    if (this.#isClosed) return;
    this.#look();
    if (this.#loop) return;
    this.#release = this.#settings.hold();
    this.#loop = this.#run().finally(() => this.#stopped());
  }

  /** Whether jobs of processes that are gone may be in the queue, which come before later ones of their records. */
  set hasOrphans(hasOrphans: boolean) {
    this.#hasOrphans = hasOrphans;
  }

  get isAtWork(): boolean {
    return this.#loop !== undefined;
  }

  #look(): void {
    this.#isDirty = true;
    this.#signal.set();
  }

  #stopped(): void {
    this.#loop = undefined;
    if (this.#isClosed) return;
    this.#release?.();
    this.#release = undefined;
    if (this.#isDirty) this.wake();
    else this.#settings.idle(this.#nextDue);
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#isClosed; )
      try {
        const pause = this.#rest(Date.now());
        if (pause === 'done') return;
        if (pause === 'read') await this.#read();
        else await this.#signal.wait(pause);
        failures = 0;
      } catch (error) {
        if (this.#isClosed) return;
        this.#log(error, 'the queue of triggers could not be read');
        this.#isDirty = true;
        await this.#unlessClosed(backoff(failures++));
      }
  }

  /** What to do next: read the queue, or wait for so many milliseconds, or until something happens, or nothing. */
  #rest(now: number): 'read' | 'done' | number | null {
    const pauses = this.#pauses.end(now);
    const isDue = this.#nextDue !== null && this.#nextDue <= now;
    if (pauses.isAny || isDue) this.#isDirty = true;
    if (isDue) this.#nextDue = null;
    const times = [pauses.next, this.#nextDue].filter((at) => at !== null).map((at) => at - now);
    if (this.#isDirty && this.#lanes.isHungry && !this.#pauses.areMany) {
      const since = performance.now() - this.#readAt;
      const between = this.#held.size === 0 ? 0 : Math.max(BETWEEN_READS, 2 * this.#readTook);
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
    this.#take(batch);
  }

  #take({ jobs, before, later, isLaterLeft, blocked, isMore, nextDue }: Batch): void {
    const now = Date.now();
    for (const job of jobs) {
      if (!this.#lanes.add(job)) continue;
      this.#held.add(job.id);
      const picture = job.beforeId === null ? undefined : before.get(job.beforeId);
      if (picture) this.#before.set(job, picture);
    }
    for (const job of later) {
      this.#held.add(job.id);
      this.#later.begin(job);
    }
    for (const key of blocked) this.#pauses.awaitOther(key, key.slice(key.indexOf('\n') + 1), now);
    const tried = isLaterLeft ? this.#place.parts.holds.end(now) : null;
    this.#nextDue = nextDue === null || tried === null ? (nextDue ?? tried) : Math.min(nextDue, tried);
    if (isMore) this.#isDirty = true;
    this.#lanes.start();
  }

  #busy(): Busy {
    return {
      isHeld: (id) => this.#held.has(id),
      held: this.#held,
      isWaiting: (key) => this.#lanes.isFull(key) || this.#pauses.has(key),
      waiting: [...this.#lanes.full(), ...this.#pauses.waiting()],
      laterRoom: (kind) => this.#later.room(kind),
    };
  }

  async #isShared(): Promise<boolean> {
    return this.#hasOrphans || this.#settings.peers.areOthers(this.#settings.system.store);
  }

  #let(ids: readonly string[]): void {
    if (this.#endedMeanwhile) this.#endedMeanwhile.push(...ids);
    else for (const id of ids) this.#held.delete(id);
  }

  async #work(job: Job): Promise<Turn> {
    const key = recordKey(job);
    try {
      const isWhole = job.kind === 'schedule' ? await this.#expand(job) : await this.#write(job, key);
      if (!isWhole) return 'held';
      this.#pauses.succeed(key);
      return 'next';
    } catch (error) {
      if (error instanceof JobLost) return 'held';
      this.#pauses.fail(key, job.objectId, Date.now());
      if (!this.#isClosed) this.#log(error instanceof Error ? (error.cause ?? error) : error, 'a job of triggers has to wait');
      return 'held';
    }
  }

  async #expand(job: Job): Promise<boolean> {
    const { system, parts } = this.#place;
    await parts.expand(system, job);
    this.#look();
    return true;
  }

  async #write(job: Job, key: string): Promise<boolean> {
    const outcome = await runWriteJob(this.#place, job, this.#before.get(job) ?? null, this.#pauses.failures(key));
    if (outcome === 'idle') this.#removals.add(job);
    return outcome !== 'stopped';
  }

  #log(error: unknown, message: string): void {
    const { parts, system } = this.#settings;
    parts.log.warn({ err: error, app: system.appId }, message);
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
    this.#lanes.stop();
    this.#signal.set();
    const isQuiet = () => this.#loop === undefined && this.#lanes.isQuiet && this.#later.isQuiet && this.#removals.isQuiet;
    while (!isQuiet() && performance.now() < until) await wait(10);
    this.#isOver = true;
    this.#removals.stop();
    this.#release?.();
    this.#release = undefined;
  }
}
