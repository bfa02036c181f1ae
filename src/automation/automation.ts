import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { isPassing } from '../errors/fail.ts';
import type { RecordContext, WriteHooks } from '../records/index.ts';
import type { System, Systems } from '../systems/index.ts';
import type { WriteListener } from './matching/trigger-observer.ts';
import type { ActionParts } from './model/action.ts';
import { LiveProcesses } from './queue/live-processes.ts';
import { CircuitBreaker } from './run/circuit-breaker.ts';
import { ClockWatch } from './run/clock-watch.ts';
import { Doubts } from './run/doubts.ts';
import { ProcessWatch } from './run/process-watch.ts';
import type { JobServices } from './run/services.ts';
import { Sweep, UnderWay } from './run/sweep.ts';
import { SystemWorker } from './run/system-worker.ts';
import { TimerQueue } from './run/timer-queue.ts';
import { standardParts } from './standard-parts.ts';

/** Milliseconds between two looks at the systems that are open. */
const POLL_INTERVAL_MS = 2_000;
/** Systems that are opened at the same time, where many are due. */
const MAX_CONCURRENT_OPENS = 8;
/** Milliseconds for which the look at one system keeps those at others waiting. */
const MAX_LOOK_MS = 200;
/** Milliseconds that jobs under way may take after the service was told to end; and functions that they call. */
const CLOSE_TIMEOUT_MS = 6_000;
const FUNCTIONS_TIMEOUT_MS = 5_000;
/** Milliseconds until a system is looked at again that could not be opened, or not be looked at: since what it stands on is away; for a fault. */
const RETRY_DELAYS_MS = { passing: 1_000, fault: 5_000 };
const notLookedAt = 'a system could not be looked at for its triggers';

/** What automation stands on. */
export interface AutomationParts extends ActionParts {
  readonly systems: Systems;
  /** Of what actions write. */
  readonly hooks: WriteHooks;
}

/** Runs the triggers of all systems that this process serves (SPEC "Events"; docs/adr/0012). */
export class Automation implements WriteListener {
  readonly #systems: Systems;
  readonly #parts: JobServices;
  readonly #processes = new LiveProcesses();
  readonly #processWatch: ProcessWatch;
  readonly #workers = new WeakMap<System, SystemWorker>();
  readonly #atWork = new Map<string, SystemWorker>();
  readonly #woken = new Map<string, { schedules: boolean }>();
  readonly #jobsDue = new TimerQueue(
    (appId) => this.#call(appId, false),
    () => performance.now(),
  );
  readonly #schedulesDue = new TimerQueue(
    (appId) => this.#call(appId, true),
    () => Date.now(),
  );
  readonly #clock = new ClockWatch(() => this.#schedulesDue.allAreDue());
  readonly #limit = pLimit(MAX_CONCURRENT_OPENS);
  readonly #doubts = new Doubts((appId, schedules) => this.#call(appId, schedules));
  /** Systems that are being looked at: what hangs in one holds no other up. */
  readonly #lookedAt = new Set<System>();
  readonly #underWay = new UnderWay();
  readonly #sweep = new Sweep({
    appIds: () => this.#systems.appIds(),
    found: () => {
      this.#active = this.#systems.active;
    },
    visit: (appId) => this.#visit(appId),
    atWork: () => this.#atWork.size,
    isOver: () => this.#isClosed,
    failed: (error, what) => this.#tell(error, what),
    underWay: this.#underWay,
  });
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #losses = 0;
  /** The systems that are at work, as of the last look. */
  #active: ReadonlyMap<string, string> = new Map();
  #isClosed = false;

  constructor({ systems, ...parts }: AutomationParts, instead: Partial<typeof standardParts> = {}) {
    this.#systems = systems;
    this.#processWatch = new ProcessWatch(this.#processes, systems);
    this.#parts = { ...parts, ...standardParts, breaker: new CircuitBreaker(), ...instead };
  }

  /** A write has queued something: its system's jobs are begun, after this turn of the event loop. */
  queued({ appId, store }: RecordContext): void {
    this.#heard(appId, () => {
      const worker = this.#atWork.get(appId);
      if (worker?.system.store === store) worker.runner.wake();
      else this.#call(appId, false);
    });
  }

  /** A definition was written: the system's schedules are looked at. */
  triggersChanged({ appId }: RecordContext): void {
    this.#heard(appId, () => this.#call(appId, true));
  }

  /** The write may have been carried out, at once or a little later: the database did not answer. */
  doubted({ appId, store }: RecordContext, schedules: boolean): void {
    this.#heard(appId, () => this.#doubts.add(appId, schedules, store));
  }

  /** Faults here do not reach the write: what was queued is found all the same. */
  #heard(appId: string, listen: () => void): void {
    try {
      listen();
    } catch (error) {
      this.#tell(error, 'automation could not be told of a write', appId);
    }
  }

  /** Begins to look for what was left undone, in all systems one after the other, in the background. */
  start(): void {
    this.#timer ??= setInterval(() => this.#look(), POLL_INTERVAL_MS).unref();
    this.#clock.start();
    this.#sweep.begin(notLookedAt);
  }

  /** Looks at a system after this turn; many calls of a turn are one. */
  #call(appId: string, schedules: boolean): void {
    if (this.#isClosed) return;
    const woken = this.#woken.get(appId);
    if (woken) woken.schedules ||= schedules;
    else {
      this.#woken.set(appId, { schedules });
      setImmediate(() => void this.#limit(() => this.#attend(appId)));
    }
  }

  async #attend(appId: string): Promise<void> {
    if (this.#isClosed) return;
    const woken = this.#woken.get(appId);
    try {
      // Calls that come meanwhile are part of this one: a system that hangs takes the place of one.
      const system = await this.#acquire(appId);
      if (!system) return this.#forget(appId);
      const { worker, isNew } = this.#workerOf(system);
      worker.runner.wake();
      const asked = woken?.schedules && !isNew ? worker.askSchedules() : Promise.resolve();
      this.#underWay.follow(asked.finally(() => system.release()));
    } catch (error) {
      this.#failed(appId, error, woken?.schedules === true);
    }
  }

  /** A system could not be looked at. It is tried again soon; of what passes others tell. */
  #failed(appId: string, error: unknown, schedules: boolean): void {
    if (this.#isClosed) return;
    const isFault = !isPassing(error);
    if (isFault) this.#parts.conditions.met(notLookedAt, { app: appId }, error);
    const pause = isFault ? RETRY_DELAYS_MS.fault : RETRY_DELAYS_MS.passing;
    this.#jobsDue.set(appId, performance.now() + pause);
    if (schedules) this.#schedulesDue.set(appId, Date.now() + pause);
  }

  async #acquire(appId: string): Promise<System | undefined> {
    try {
      return await this.#systems.acquire(appId);
    } finally {
      this.#woken.delete(appId);
    }
  }

  /** The system is gone. */
  #forget(appId: string): void {
    this.#jobsDue.set(appId, null);
    this.#schedulesDue.set(appId, null);
  }

  /** @returns the worker of a system that the caller holds; one that is new is attached in the background */
  #workerOf(system: System): { worker: SystemWorker; isNew: boolean } {
    const known = this.#workers.get(system);
    if (known) return { worker: known, isNew: false };
    const worker = this.#newWorker(system);
    system.hold();
    void this.#attach(worker).finally(() => system.release());
    return { worker, isNew: true };
  }

  #newWorker(system: System): SystemWorker {
    const worker = new SystemWorker(system, this.#parts, this.#processes, {
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

  #look(): void {
    this.#looking ??= this.#lookAtOpened()
      .catch((error) => this.#tell(error, 'the open systems could not be looked at for their triggers'))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** Of what passes others tell. */
  #tell(error: unknown, what: string, appId?: string): void {
    if (!isPassing(error)) this.#parts.conditions.met(what, { app: appId }, error);
  }

  /** Looks for what other processes left behind or wrote. Holds only systems of which something may be new: the others may be closed. */
  async #lookAtOpened(): Promise<void> {
    // What is in the way of one of these is in the way of no other.
    for (const look of [() => this.#followSystems(), () => this.#processWatch.look()])
      await look().catch((error) => this.#tell(error, 'the systems and processes could not be looked at'));
    for (const system of this.#systems.opened()) {
      if (this.#isClosed) return;
      const known = this.#workers.get(system);
      const news = known?.mayHaveNews;
      if (known?.isAway || (news && !news.jobs && !news.schedules) || this.#lookedAt.has(system)) continue;
      const look = this.#lookAt(system, news).catch((error) => this.#tell(error, notLookedAt, system.appId));
      await this.#underWay.atMostFor(MAX_LOOK_MS, look);
    }
    if (this.#losses === this.#processes.losses) return;
    // The process that is gone may have had jobs of systems that are not open here, and known of their schedules.
    this.#losses = this.#processes.losses;
    this.#sweep.begin(notLookedAt);
  }

  async #lookAt(system: System, news: SystemWorker['mayHaveNews'] | undefined): Promise<void> {
    this.#lookedAt.add(system);
    // Looking is no use: who looks now and then must not keep the system open.
    system.hold(false);
    try {
      const { worker, isNew } = this.#workerOf(system);
      if (isNew) return;
      if (news?.jobs) await worker.adopt();
      if (news?.schedules) await worker.askSchedules();
    } finally {
      this.#lookedAt.delete(system);
      system.release();
    }
  }

  /** Leaves systems that were removed, whatever is queued in them, and begins with those that are new or restored, or held no longer. */
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
    for (const [appId, id] of this.#active) if (before.get(appId) !== id) this.#call(appId, true);
  }

  async #visit(appId: string): Promise<void> {
    try {
      await this.#systems.visit(appId, async (system) => {
        const worker = this.#workers.get(system) ?? this.#newWorker(system);
        await this.#attach(worker);
      });
    } catch (error) {
      this.#failed(appId, error, false);
    }
  }

  /** Begins nothing more and waits for what is under way, for a while. What is left is done after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#parts.mailer.leave();
    this.#parts.functions.leave(FUNCTIONS_TIMEOUT_MS);
    const bound = wait(CLOSE_TIMEOUT_MS + 1_000, undefined, { ref: false });
    clearInterval(this.#timer);
    this.#clock.close();
    this.#jobsDue.close();
    this.#schedulesDue.close();
    const background = Promise.all([this.#looking, this.#sweep.ended()]);
    const open = [...this.#systems.opened()].map((system) => this.#workers.get(system)).filter((worker) => worker !== undefined);
    await Promise.all([...new Set([...open, ...this.#atWork.values()])].map((worker) => worker.close(CLOSE_TIMEOUT_MS)));
    await Promise.race([Promise.all([background, this.#underWay.ended()]), bound]);
  }
}
