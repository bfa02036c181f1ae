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
import { otherOwners, takeOver } from '../queue/take-over.ts';
import type { ClockWatch } from './clock-watch.ts';
import { type Outage, outageOf } from './outage.ts';
import { backoff } from './outcome.ts';
import { Runner } from './runner.ts';
import type { JobServices } from './services.ts';

/**
 * Interval between two checks of the queue, regardless of version numbers: another process may come and go unnoticed. It doubles up to `MAX_` while
 * nothing is found, because thousands of systems may be open.
 */
const POLL_INTERVAL_MS = 3_000;
const MAX_POLL_INTERVAL_MS = 30_000;
/** Delay before a missing process is checked again. */
const RECHECK_DELAY_MS = 1_050;

/** Events of a system's worker. */
export interface WorkerEvents {
  /** The runner has started or stopped. */
  atWork(worker: SystemWorker, isAtWork: boolean): void;
  /** When the next retryable job is due, on the monotonic clock; `null`: there is none. */
  jobsDue(appId: string, at: number | null): void;
  /** When the next schedule is due, in milliseconds since 1970; `null`: there is none. */
  schedulesDue(appId: string, at: number | null): void;
  readonly clock: ClockWatch;
}

/** Handles all work of one open system's triggers: its jobs, those of ended processes, and its schedules. */
export class SystemWorker {
  readonly system: System;
  readonly runner: Runner;
  readonly #services: JobServices;
  readonly #processes: LiveProcesses;
  readonly #events: WorkerEvents;
  /** State of the tables at the last check. */
  #queueVersion = Number.NaN;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #searchedAt = Number.NEGATIVE_INFINITY;
  /** Whether a search is due that came too soon after the last one. */
  #mustSearch = false;
  #pollInterval = POLL_INTERVAL_MS;
  #losses = Number.NaN;
  #triggerVersion = Number.NaN;
  #adopting: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
  #mustRecheck = false;
  #failures = 0;
  #isClosed = false;
  readonly #outage: Outage;

  constructor(system: System, services: JobServices, processes: LiveProcesses, events: WorkerEvents) {
    this.system = system;
    this.#services = services;
    this.#processes = processes;
    this.#events = events;
    this.#outage = outageOf(system.store);
    this.runner = new Runner({
      system,
      services,
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

  /** Starts existing work: jobs of this and of ended processes, and schedules that are due. */
  async attach(): Promise<void> {
    await Promise.all([this.adopt(), this.checkSchedules()]);
    while (!(await this.#wakeForAny()) && !this.#isOver) await this.#outage.sleep(() => this.#isOver);
  }

  /** @returns false if the store is unavailable */
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

  /** Whether to stop waiting for the store. */
  get #isOver(): boolean {
    return this.#isClosed || this.system.isClosing;
  }

  /** Whether the store is known to be unavailable. */
  get isAway(): boolean {
    return this.#outage.isKnown;
  }

  /** Whether there may be work that this process was not notified of. Cheap. */
  get mayHaveNews(): { readonly jobs: boolean; readonly schedules: boolean } {
    const { store } = this.system;
    return {
      jobs:
        this.#queueVersion !== store.tableVersion(queueTable) ||
        this.#losses !== this.#processes.losses ||
        (store.cluster.noticesAllWrites ? this.#mustSearch : performance.now() - this.#checkedAt > this.#pollInterval),
      schedules: !this.system.isHeld && this.#triggerVersion !== store.tableVersion('_Trigger'),
    };
  }

  /** Takes over the jobs of ended processes; now and then also searches for own jobs without notification. */
  adopt(): Promise<void> {
    this.#adopting ??= this.#adopt()
      .then(() => this.#searchOwn())
      .catch(async (error) => void (await this.#failed(error, 'jobs of processes that are gone could not be taken over')))
      .finally(() => {
        this.#adopting = undefined;
      });
    return this.#adopting;
  }

  async #adopt(): Promise<void> {
    const { store } = this.system;
    // Before reading, so that concurrent changes are found the next time.
    const [version, losses] = [store.tableVersion(queueTable), this.#processes.losses];
    const isQuiet = version === this.#queueVersion && losses === this.#losses;
    this.#pollInterval = isQuiet ? Math.min(this.#pollInterval * 2, MAX_POLL_INTERVAL_MS) : POLL_INTERVAL_MS;
    this.#checkedAt = performance.now();
    let isSecondLook = false;
    while (!this.#isClosed) {
      const owners = await otherOwners(store, await this.#processes.alive(store));
      this.runner.hasOrphans = owners.size > 0;
      if (owners.size === 0) break;
      this.#pollInterval = POLL_INTERVAL_MS;
      const gone = await this.#processes.ended(store, owners);
      if (gone.length > 0) await this.#take(gone);
      // Processes that went missing just now are checked another time.
      else if (isSecondLook) return;
      else await this.#delay(RECHECK_DELAY_MS);
      isSecondLook = true;
    }
    [this.#queueVersion, this.#losses] = [version, losses];
  }

  /** Finds own jobs that were queued without a notification, because the database did not answer after their commit. */
  async #searchOwn(): Promise<void> {
    this.#mustSearch = performance.now() - this.#searchedAt < POLL_INTERVAL_MS;
    if (this.#isClosed || this.#mustSearch) return;
    this.#searchedAt = performance.now();
    // A running runner reads the queue again.
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
    this.#services.log.info({ app: this.system.appId, jobs: taken }, 'jobs of a process that is gone were taken over');
    this.runner.wake();
  }

  /** Queues the runs of schedules that are due, and computes the next due time. */
  checkSchedules(): Promise<void> {
    this.#mustRecheck = true;
    this.#checking ??= this.#checkSchedules().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkSchedules(): Promise<void> {
    const { system } = this;
    const { clock } = this.#events;
    while (this.#mustRecheck && !this.#isOver) {
      this.#mustRecheck = false;
      // Runs that are missed while the system is held are made up for once, as after a downtime.
      if (system.isHeld) return this.#events.schedulesDue(system.appId, null);
      const { jumps } = clock;
      try {
        const version = system.store.tableVersion('_Trigger');
        const queued = system.store.tableVersion(queueTable);
        const next = await this.#services.runDue(system, Date.now(), clock.skewOf(system.appId));
        this.#triggerVersion = version;
        this.#failures = 0;
        clock.seen(system.appId, jumps);
        this.#mustRecheck ||= clock.jumps !== jumps;
        this.#events.schedulesDue(system.appId, next);
        if (queued !== system.store.tableVersion(queueTable)) this.runner.wake();
      } catch (error) {
        if (this.#isClosed) return;
        if (await this.#failed(error, 'the schedules could not be looked at')) {
          await this.#outage.sleep(() => this.#isOver);
          this.#mustRecheck = true;
        } else this.#events.schedulesDue(system.appId, Date.now() + backoff(this.#failures++));
      }
    }
  }

  /** Logs faults; transient errors are logged by the engine. @returns whether the store is unavailable */
  async #failed(error: unknown, what: string): Promise<boolean> {
    if (!isPassing(error) && !this.#isClosed) this.#services.conditions.met(what, { app: this.system.appId }, error);
    return this.#outage.isCauseOf(error);
  }

  async #delay(pause: number): Promise<void> {
    const until = performance.now() + pause;
    while (!this.#isClosed && performance.now() < until) await wait(Math.min(50, pause));
  }

  /** Closes as `Runner.close`. @param maxMs milliseconds */
  async close(maxMs: number): Promise<void> {
    this.#isClosed = true;
    await this.runner.close(maxMs);
    await Promise.race([Promise.all([this.#adopting, this.#checking]), wait(1_000, undefined, { ref: false })]);
  }
}
