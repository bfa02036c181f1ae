import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { isPassing } from '../errors/fail.ts';
import type { RecordContext, WriteHooks } from '../records/index.ts';
import type { PendingRows } from '../storage/engine.ts';
import type { SearchPart, System, Systems } from '../systems/index.ts';
import type { WriteListener } from './matching/trigger-observer.ts';
import type { ActionServices } from './model/action.ts';
import { queueTable } from './queue/index.ts';
import { LiveProcesses } from './queue/live-processes.ts';
import { CircuitBreaker } from './run/circuit-breaker.ts';
import { ClockWatch } from './run/clock-watch.ts';
import { PollPace } from './run/poll-pace.ts';
import type { JobServices } from './run/services.ts';
import { BackgroundTasks, Sweep } from './run/sweep.ts';
import { SystemWorker } from './run/system-worker.ts';
import { TimerQueue } from './run/timer-queue.ts';
import { UncertainWrites } from './run/uncertain-writes.ts';
import { triggerTable } from './schedule/index.ts';
import { standardServices } from './standard-services.ts';

/** Interval at which the open systems are polled. */
const POLL_INTERVAL_MS = 2_000;
/** Systems that are opened concurrently when many are due. */
const MAX_CONCURRENT_OPENS = 8;
/** Time that polling one system may delay the others. */
const MAX_POLL_WAIT_MS = 200;
/** Time that running jobs, and the functions that they call, have after shutdown begins. */
const CLOSE_TIMEOUT_MS = 6_000;
const FUNCTIONS_TIMEOUT_MS = 5_000;
/** Delay before a system is visited again after a failure: transient (something it needs is unavailable), or a fault. */
const RETRY_DELAYS_MS = { transient: 1_000, fault: 5_000 };
/** What a system without triggers' work has none of: jobs of whatever process, and definitions with a schedule. */
const workRows: readonly PendingRows[] = [{ className: queueTable }, { className: triggerTable, field: 'schedule' }];
const visitFailed = 'a system could not be looked at for its triggers';

/** The dependencies of automation. */
export interface AutomationServices extends ActionServices {
  readonly systems: Systems;
  /** Write hooks for records that actions write. */
  readonly hooks: WriteHooks;
  /** What else is looked for when all systems are searched. */
  readonly searched?: readonly SearchPart[];
}

/** Runs the triggers of all systems that this process serves (triggers.md#order-and-delivery, adr/0012). */
export class Automation implements WriteListener {
  readonly #systems: Systems;
  readonly #services: JobServices;
  readonly #searched: readonly SearchPart[];
  readonly #processes = new LiveProcesses();
  readonly #workers = new WeakMap<System, SystemWorker>();
  readonly #atWork = new Map<string, SystemWorker>();
  readonly #pendingVisits = new Map<string, { schedules: boolean }>();
  readonly #jobsDue = new TimerQueue(
    (appId) => this.#scheduleVisit(appId, false),
    () => performance.now(),
  );
  readonly #schedulesDue = new TimerQueue(
    (appId) => this.#scheduleVisit(appId, true),
    () => Date.now(),
  );
  readonly #clock = new ClockWatch(() => this.#schedulesDue.fireAll());
  readonly #limit = pLimit(MAX_CONCURRENT_OPENS);
  readonly #uncertainWrites = new UncertainWrites((appId, schedules) => this.#scheduleVisit(appId, schedules));
  /** Systems being polled, so that one that hangs does not block the others. */
  readonly #polled = new Set<System>();
  readonly #pace = new PollPace();
  readonly #background = new BackgroundTasks();
  readonly #sweep = new Sweep({
    readSystems: async () => {
      await this.#systems.appIds();
      this.#active = this.#systems.active;
    },
    withWork: () => this.#systems.withRows([...workRows, ...this.#searched.flatMap(({ rows }) => rows)]),
    visit: (appId) => this.#visit(appId),
    atWork: () => this.#atWork.size,
    shouldStop: () => this.#isClosed,
    failed: (error, what) => this.#report(error, what),
    background: this.#background,
  });
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #losses = 0;
  /** The systems in service as of the last poll, with the ids of their stores. */
  #active: ReadonlyMap<string, string> = new Map();
  #isClosed = false;

  constructor({ systems, searched = [], ...services }: AutomationServices, instead: Partial<typeof standardServices> = {}) {
    this.#systems = systems;
    this.#searched = searched;
    this.#services = { ...services, ...standardServices, breaker: new CircuitBreaker(), ...instead };
  }

  /** A write has queued jobs: starts the worker of its system after this turn of the event loop. */
  queued({ appId, store }: RecordContext): void {
    this.#guard(appId, () => {
      const worker = this.#atWork.get(appId);
      if (worker?.system.store === store) worker.runner.wake();
      else this.#scheduleVisit(appId, false);
    });
  }

  /** A trigger definition was written: checks the schedules of the system. */
  triggersChanged({ appId }: RecordContext): void {
    this.#guard(appId, () => this.#scheduleVisit(appId, true));
  }

  /** The outcome of a write is unknown, because the database did not answer: its jobs may appear now or a little later. */
  outcomeUnknown({ appId, store }: RecordContext, schedules: boolean): void {
    this.#guard(appId, () => this.#uncertainWrites.add(appId, schedules, store));
  }

  /** Errors here must not fail the write; polling finds the queued jobs anyway. */
  #guard(appId: string, listen: () => void): void {
    try {
      listen();
    } catch (error) {
      this.#report(error, 'automation could not be told of a write', appId);
    }
  }

  /** Starts polling, and searches all systems in the background for unfinished work. */
  start(): void {
    this.#timer ??= setInterval(() => this.#poll(), POLL_INTERVAL_MS).unref();
    this.#clock.start();
    // At once, so that a process which ends before the first poll is missed.
    this.#processes.alive(this.#systems).catch(() => {});
    this.#sweep.begin(visitFailed);
  }

  /** Visits a system after this turn of the event loop; further calls in the same turn are merged. */
  #scheduleVisit(appId: string, schedules: boolean): void {
    if (this.#isClosed) return;
    const visit = this.#pendingVisits.get(appId);
    if (visit) visit.schedules ||= schedules;
    else {
      this.#pendingVisits.set(appId, { schedules });
      setImmediate(() => void this.#limit(() => this.#wakeSystem(appId)));
    }
  }

  async #wakeSystem(appId: string): Promise<void> {
    if (this.#isClosed) return;
    const visit = this.#pendingVisits.get(appId);
    try {
      // Calls during the wait are merged into this one, so that a system that hangs uses only one slot.
      const system = await this.#acquire(appId);
      if (!system) return this.#forget(appId);
      const { worker, isNew } = this.#workerOf(system);
      worker.runner.wake();
      const checked = visit?.schedules && !isNew ? worker.checkSchedules() : Promise.resolve();
      this.#background.track(checked.finally(() => system.release()));
    } catch (error) {
      this.#failed(appId, error, visit?.schedules === true);
    }
  }

  /** A system could not be visited: schedules a retry. Transient errors are logged elsewhere. */
  #failed(appId: string, error: unknown, schedules: boolean): void {
    if (this.#isClosed) return;
    const isFault = !isPassing(error);
    if (isFault) this.#services.conditions.met(visitFailed, { app: appId }, error);
    const pause = isFault ? RETRY_DELAYS_MS.fault : RETRY_DELAYS_MS.transient;
    this.#jobsDue.set(appId, performance.now() + pause);
    if (schedules) this.#schedulesDue.set(appId, Date.now() + pause);
  }

  async #acquire(appId: string): Promise<System | undefined> {
    try {
      return await this.#systems.acquire(appId);
    } finally {
      this.#pendingVisits.delete(appId);
    }
  }

  /** Drops the timers of a system that no longer exists. */
  #forget(appId: string): void {
    this.#jobsDue.set(appId, null);
    this.#schedulesDue.set(appId, null);
  }

  /** @returns the worker of a system that the caller holds; a new one is attached in the background */
  #workerOf(system: System): { worker: SystemWorker; isNew: boolean } {
    const existing = this.#workers.get(system);
    if (existing) return { worker: existing, isNew: false };
    const worker = this.#newWorker(system);
    // Looking for work is no use of the system: otherwise it would stay open.
    system.hold(false);
    void this.#attach(worker).finally(() => system.release());
    return { worker, isNew: true };
  }

  #newWorker(system: System): SystemWorker {
    const worker = new SystemWorker(system, this.#services, this.#processes, {
      atWork: (one, isAtWork) => {
        if (isAtWork) this.#atWork.set(system.appId, one);
        else if (this.#atWork.get(system.appId) === one) this.#atWork.delete(system.appId);
      },
      jobsDue: (appId, at) => this.#jobsDue.set(appId, at),
      schedulesDue: (appId, at) => this.#schedulesDue.set(appId, at),
      clock: this.#clock,
    });
    this.#workers.set(system, worker);
    return worker;
  }

  async #attach(worker: SystemWorker): Promise<void> {
    try {
      await worker.attach();
    } catch (error) {
      this.#failed(worker.system.appId, error, false);
    }
  }

  #poll(): void {
    this.#polling ??= this.#pollOpenSystems()
      .catch((error) => this.#report(error, 'the open systems could not be looked at for their triggers'))
      .finally(() => {
        this.#polling = undefined;
      });
  }

  /** Logs a fault. Transient errors are logged elsewhere. */
  #report(error: unknown, what: string, appId?: string): void {
    if (!isPassing(error)) this.#services.conditions.met(what, { app: appId }, error);
  }

  /** Looks for work that other processes queued or left behind. Holds only systems that may have news, so that the others can be closed. */
  async #pollOpenSystems(): Promise<void> {
    for (const look of [() => this.#followSystems(), () => this.#processes.alive(this.#systems)])
      await look().catch((error) => this.#report(error, 'the systems and processes could not be looked at'));
    for (const system of this.#pace.due(this.#systems.opened())) {
      if (this.#isClosed) return;
      const worker = this.#workers.get(system);
      const news = worker?.mayHaveNews;
      if (worker?.isAway || (news && !news.jobs && !news.schedules) || this.#polled.has(system)) continue;
      const look = this.#pollSystem(system, news).catch((error) => this.#report(error, visitFailed, system.appId));
      await this.#background.waitAtMost(MAX_POLL_WAIT_MS, look);
    }
    if (this.#losses === this.#processes.losses) return;
    // The process that ended may have had jobs, or known schedules, of systems that are not open here.
    this.#losses = this.#processes.losses;
    this.#sweep.begin(visitFailed);
  }

  async #pollSystem(system: System, news: SystemWorker['mayHaveNews'] | undefined): Promise<void> {
    this.#polled.add(system);
    // Polling does not count as use: otherwise it would keep the system open.
    system.hold(false);
    try {
      const { worker, isNew } = this.#workerOf(system);
      if (isNew) return;
      if (news?.jobs) await worker.adopt();
      if (news?.schedules) await worker.checkSchedules();
    } finally {
      this.#polled.delete(system);
      system.release();
    }
  }

  /** Stops the workers of removed systems, whatever is queued, and starts those of systems that are new, restored or resumed. */
  async #followSystems(): Promise<void> {
    await this.#systems.appIds();
    const before = this.#active;
    this.#active = this.#systems.active;
    if (before === this.#active) return;
    for (const [appId, worker] of this.#atWork) {
      if (!worker.system.isClosing) continue;
      this.#atWork.delete(appId);
      void worker.close(CLOSE_TIMEOUT_MS);
    }
    for (const [appId, id] of this.#active) if (before.get(appId) !== id) this.#scheduleVisit(appId, true);
  }

  async #visit(appId: string): Promise<void> {
    try {
      await this.#systems.visit(appId, async (system) => {
        const worker = this.#workers.get(system) ?? this.#newWorker(system);
        await Promise.all([this.#attach(worker), ...this.#searched.map((part) => part.visit(system))]);
      });
    } catch (error) {
      this.#failed(appId, error, false);
    }
  }

  /** Begins nothing more and waits, for a limited time, for running jobs. The rest is done after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#services.mailer.leave();
    this.#services.functions.leave(FUNCTIONS_TIMEOUT_MS);
    const bound = wait(CLOSE_TIMEOUT_MS + 1_000, undefined, { ref: false });
    clearInterval(this.#timer);
    for (const watch of [this.#clock, this.#jobsDue, this.#schedulesDue]) watch.close();
    const background = Promise.all([this.#polling, this.#sweep.ended()]);
    const open = [...this.#systems.opened()].map((system) => this.#workers.get(system)).filter((worker) => worker !== undefined);
    await Promise.all([...new Set([...open, ...this.#atWork.values()])].map((worker) => worker.close(CLOSE_TIMEOUT_MS)));
    await Promise.race([Promise.all([background, this.#background.ended()]), bound]);
  }
}
