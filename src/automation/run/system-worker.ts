import { setTimeout as wait } from 'node:timers/promises';
import { isPassing } from '../../errors/fail.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { fieldOf } from '../../schema/model.ts';
import type { System } from '../../systems/index.ts';
import { queueTable, retryableKinds } from '../queue/index.ts';
import type { LiveProcesses } from '../queue/live-processes.ts';
import { among, is } from '../queue/steps.ts';
import { ownersBeside, takeOver } from '../queue/take-over.ts';
import type { ClockWatch } from './clock-watch.ts';
import { type Outage, outageOf } from './outage.ts';
import { backoff } from './outcome.ts';
import { Runner } from './runner.ts';
import type { JobServices } from './services.ts';

/** Milliseconds until the queue is looked at again whatever is known: a process may come and go without being seen. */
const POLL_INTERVAL_MS = 3_000;
/** Milliseconds after which a process that is missing is looked for again. */
const RECHECK_DELAY_MS = 1_050;

/** What the worker of a system tells of it. */
export interface WorkerEvents {
  /** Jobs are at work, or none any more. */
  atWork(worker: SystemWorker, isAtWork: boolean): void;
  /** When a job that waits for its time is due, on the clock that never goes back; `null`: there is none. */
  jobsDue(appId: string, at: number | null): void;
  /** When a schedule is due, in milliseconds since 1970; `null` likewise. */
  schedulesDue(appId: string, at: number | null): void;
  readonly clock: ClockWatch;
}

/** All that is to be done for the triggers of one open system: its jobs, those of processes that are gone, its schedules. */
export class SystemWorker {
  readonly system: System;
  readonly runner: Runner;
  readonly #parts: JobServices;
  readonly #processes: LiveProcesses;
  readonly #events: WorkerEvents;
  /** What was known of the tables when they were last looked at. */
  #queueVersion = Number.NaN;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #soughtAt = Number.NEGATIVE_INFINITY;
  #losses = Number.NaN;
  #triggerVersion = Number.NaN;
  #adopting: Promise<void> | undefined;
  #asking: Promise<void> | undefined;
  #isAskedAgain = false;
  #failures = 0;
  #isClosed = false;
  readonly #outage: Outage;

  constructor(system: System, parts: JobServices, processes: LiveProcesses, events: WorkerEvents) {
    this.system = system;
    this.#parts = parts;
    this.#processes = processes;
    this.#events = events;
    this.#outage = outageOf(system.store);
    this.runner = new Runner({
      system,
      parts,
      processes,
      hold: () => {
        system.hold();
        events.atWork(this, true);
        return () => system.release();
      },
      idle: (nextDue) => {
        events.atWork(this, false);
        events.jobsDue(system.appId, nextDue);
      },
    });
  }

  /** Begins with what is there: jobs of this process and of those that are gone, schedules that are due. */
  async attach(): Promise<void> {
    await Promise.all([this.adopt(), this.askSchedules()]);
    while (!(await this.#wakeForAny()) && !this.#isOver) await this.#outage.sleep(() => this.#isOver);
  }

  /** @returns false where the store is away */
  async #wakeForAny(): Promise<boolean> {
    const filter = (): Filter => ({ kind: 'always' });
    try {
      const rows = await readRows(this.system.store, { className: queueTable, fields: ['objectId'], filter, limit: 1 });
      if (rows.length > 0) this.runner.wake();
      return true;
    } catch (error) {
      if (await this.#outage.isCauseOf(error)) return false;
      throw error;
    }
  }

  /** Whether the store is not to be waited for any more. */
  get #isOver(): boolean {
    return this.#isClosed || this.system.isClosing;
  }

  /** Whether the store is away: it is of no use to look at it. */
  get isAway(): boolean {
    return this.#outage.isKnown;
  }

  /** Whether anything that this process did not hear of may be there to do. Cheap. */
  get mayHaveNews(): { readonly jobs: boolean; readonly schedules: boolean } {
    const { store } = this.system;
    return {
      jobs:
        this.#queueVersion !== store.tableVersion(queueTable) ||
        this.#losses !== this.#processes.losses ||
        performance.now() - this.#lookedAt > POLL_INTERVAL_MS,
      schedules: !this.system.isHeld && this.#triggerVersion !== store.tableVersion('_Trigger'),
    };
  }

  /** Takes over the jobs of processes that are gone; now and then looks for jobs of its own that nobody told of. */
  adopt(): Promise<void> {
    this.#adopting ??= this.#adopt()
      .then(() => this.#seek())
      .catch(async (error) => void (await this.#failed(error, 'jobs of processes that are gone could not be taken over')))
      .finally(() => {
        this.#adopting = undefined;
      });
    return this.#adopting;
  }

  async #adopt(): Promise<void> {
    const { store } = this.system;
    // Before reading: what is written meanwhile is looked at the next time.
    const [version, losses] = [store.tableVersion(queueTable), this.#processes.losses];
    this.#lookedAt = performance.now();
    let isSecondLook = false;
    while (!this.#isClosed) {
      const owners = await ownersBeside(store, await this.#processes.alive(store));
      this.runner.hasOrphans = owners.size > 0;
      if (owners.size === 0) break;
      const gone = await this.#processes.gone(store, owners);
      if (gone.length > 0) await this.#take(gone);
      // Those that are missing only now are looked for another time.
      else if (isSecondLook) return;
      else await this.#pause(RECHECK_DELAY_MS);
      isSecondLook = true;
    }
    [this.#queueVersion, this.#losses] = [version, losses];
  }

  /** A job is there of which nobody heard where the database did not answer after the commit that queued it. */
  async #seek(): Promise<void> {
    if (this.#isClosed || performance.now() - this.#soughtAt < POLL_INTERVAL_MS) return;
    this.#soughtAt = performance.now();
    // One that is at work reads the queue once more.
    if (this.runner.isAtWork || (await this.#hasOwn())) this.runner.wake();
  }

  async #hasOwn(): Promise<boolean> {
    const { store } = this.system;
    const filter = (table: TableSchema): Filter => ({
      kind: 'and',
      items: [
        is(table, 'owner', store.cluster.processId),
        among(table, 'kind', ['write', 'schedule', ...retryableKinds]),
        { kind: 'not', item: { kind: 'compare', field: fieldOf(table, 'dueAt'), op: 'gt', value: Date.now() } },
      ],
    });
    return (await readRows(store, { className: queueTable, fields: ['objectId'], filter, limit: 1 })).length > 0;
  }

  async #take(gone: readonly string[]): Promise<void> {
    const taken = await takeOver(this.system.store, gone, () => this.#isClosed);
    if (taken === 0) return;
    this.#parts.log.info({ app: this.system.appId, jobs: taken }, 'jobs of a process that is gone were taken over');
    this.runner.wake();
  }

  /** Queues the runs of schedules that are due, and finds out when the next one is. */
  askSchedules(): Promise<void> {
    this.#isAskedAgain = true;
    this.#asking ??= this.#askSchedules().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askSchedules(): Promise<void> {
    const { system } = this;
    const { clock } = this.#events;
    while (this.#isAskedAgain && !this.#isOver) {
      this.#isAskedAgain = false;
      // What is missed meanwhile is made up once, as after a time without a service.
      if (system.isHeld) return this.#events.schedulesDue(system.appId, null);
      const { jumps } = clock;
      try {
        const version = system.store.tableVersion('_Trigger');
        const queued = system.store.tableVersion(queueTable);
        const next = await this.#parts.runDue(system, Date.now(), clock.skewOf(system.appId));
        this.#triggerVersion = version;
        this.#failures = 0;
        clock.seen(system.appId, jumps);
        this.#isAskedAgain ||= clock.jumps !== jumps;
        this.#events.schedulesDue(system.appId, next);
        if (queued !== system.store.tableVersion(queueTable)) this.runner.wake();
      } catch (error) {
        if (this.#isClosed) return;
        if (await this.#failed(error, 'the schedules could not be looked at')) {
          await this.#outage.sleep(() => this.#isOver);
          this.#isAskedAgain = true;
        } else this.#events.schedulesDue(system.appId, Date.now() + backoff(this.#failures++));
      }
    }
  }

  /** Tells of what does not pass; of the rest the engine tells. @returns whether the store is away */
  async #failed(error: unknown, what: string): Promise<boolean> {
    if (!isPassing(error) && !this.#isClosed) this.#parts.conditions.met(what, { app: this.system.appId }, error);
    return this.#outage.isCauseOf(error);
  }

  async #pause(pause: number): Promise<void> {
    const until = performance.now() + pause;
    while (!this.#isClosed && performance.now() < until) await wait(Math.min(50, pause));
  }

  /** Ends as `Runner.close`. @param atMost milliseconds */
  async close(atMost: number): Promise<void> {
    this.#isClosed = true;
    await this.runner.close(atMost);
    await Promise.race([Promise.all([this.#adopting, this.#asking]), wait(1_000, undefined, { ref: false })]);
  }
}
