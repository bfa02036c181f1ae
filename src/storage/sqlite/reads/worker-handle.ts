import { Worker } from 'node:worker_threads';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { unavailableSince } from '../../../errors/system-faults.ts';
import { SchemaChanged } from '../../port.ts';
import { receivedFault, storeFaultOf } from '../connection/map-error.ts';
import {
  CREDITS,
  type FromReader,
  faultText,
  type MaintenanceResult,
  type MaintenanceTask,
  type ReaderSetup,
  type ToReader,
} from './protocol.ts';
import type { ReadRequest } from './read-request.ts';
import type { ReportFault } from './reader-pool.ts';

/** Time beyond a task's time limit after which its thread is terminated: it does not react (a pattern that never ends, a sort). */
const GRACE_MS = 1_000;

/** Size of the young generation: rows die as soon as they are written, so more would only enlarge the process. */
const YOUNG_GENERATION_MB = 4;

const workerFile = new URL('./worker.ts', import.meta.url);

interface AtWork {
  readonly task: ReadRequest;
  outstanding: number;
  watchdog: NodeJS.Timeout | undefined;
}

/** Callbacks of a thread. */
interface ThreadEvents {
  /** It could take a task. */
  onIdle(): void;
  /** A task waits for its client. */
  onParked(): void;
  onGone(): void;
  onStarted(): void;
  /** It ended before it could take a task, for lack of descriptors, memory or threads. */
  onNotStarted(error: unknown): void;
}

/** The event loop's side of one reader thread. */
export class WorkerHandle {
  readonly #worker: Worker;
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(4));
  readonly #tasks = new Map<number, AtWork>();
  readonly #maintenance = new Map<number, (result: MaintenanceResult) => void>();
  #lastMaintenance = 0;
  readonly #report: ReportFault;
  readonly #events: ThreadEvents;
  #isStarted = false;
  #gone = false;
  #unusedSince = performance.now();

  constructor(report: ReportFault, events: ThreadEvents) {
    this.#report = report;
    this.#events = events;
    const workerData: ReaderSetup = { cancelled: this.#cancelled };
    this.#worker = new Worker(workerFile, { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } });
    // Reader threads must not keep the process alive.
    this.#worker.unref();
    this.#worker.on('message', (message: FromReader) => this.#receive(message));
    // It ends with an error that it could not catch, a programming error; or it could not be started, for lack of descriptors, memory or threads.
    let why: unknown = new Error('the thread could not be started');
    this.#worker.on('error', (error) => {
      why = error;
      if (this.#isStarted) report(faultText(error));
      else events.onNotStarted(error);
    });
    this.#worker.on('exit', () =>
      this.#lost(this.#isStarted && !storeFaultOf(why) ? serviceError('internal') : unavailableSince(why)),
    );
  }

  /** Whether it has started and is not gone. */
  get isStarted(): boolean {
    return this.#isStarted && !this.#gone;
  }

  /** File of the system that keeps the thread busy; `null` when it could take a task (parked tasks wait for their clients). */
  get busyWith(): string | null {
    for (const { task } of this.#tasks.values()) if (!task.parked) return task.path;
    return null;
  }

  /** When its last task ended, by `performance.now()`; infinite while it has tasks or maintenance work. */
  get unusedSince(): number {
    return this.#tasks.size + this.#maintenance.size > 0 ? Number.POSITIVE_INFINITY : this.#unusedSince;
  }

  /** The tasks on a file. */
  *of(path: string): Generator<ReadRequest> {
    for (const { task } of this.#tasks.values()) if (task.path === path) yield task;
  }

  /** Tasks that wait for their clients. */
  *parked(): Generator<ReadRequest> {
    for (const { task } of this.#tasks.values()) if (task.parked) yield task;
  }

  start(task: ReadRequest): void {
    const atWork: AtWork = { task, outstanding: 0, watchdog: undefined };
    this.#tasks.set(task.number, atWork);
    task.onTaken = () => {
      atWork.outstanding--;
      task.parked = false;
      this.#watch(atWork);
      this.#send({ type: 'credit', task: task.number });
    };
    task.onCancelled = () => {
      Atomics.store(this.#cancelled, 0, task.number);
      this.#send({ type: 'cancel', task: task.number });
    };
    task.started();
    this.#watch(atWork);
    this.#send({ type: 'find', task: task.number, path: task.path, plans: task.plans, budget: task.timeLimit });
  }

  /** Sends maintenance work to the thread; resolves when it is done or the thread is gone. */
  maintain(type: MaintenanceTask['type'], path: string): Promise<MaintenanceResult> {
    if (this.#gone) return Promise.resolve({});
    return new Promise((resolve) => {
      this.#lastMaintenance--;
      this.#maintenance.set(this.#lastMaintenance, resolve);
      this.#send({ type, task: this.#lastMaintenance, path });
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(message: ToReader): void {
    if (!this.#gone) this.#worker.postMessage(message);
  }

  #receive(message: FromReader): void {
    if (message.type === 'started') {
      this.#isStarted = true;
      this.#events.onStarted();
      return;
    }
    if (message.type === 'done') {
      this.#maintenance.get(message.task)?.(message.result);
      this.#maintenance.delete(message.task);
      this.#unusedSince = performance.now();
      return;
    }
    const atWork = this.#tasks.get(message.task);
    if (!atWork) return;
    const { task } = atWork;
    switch (message.type) {
      case 'count':
        task.counted(message.count);
        break;
      case 'whole':
        task.whole(message.text);
        this.#finish(atWork);
        break;
      case 'piece':
        atWork.outstanding++;
        task.parked = atWork.outstanding >= CREDITS;
        this.#watch(atWork);
        task.piece(message.text, message.rows);
        if (task.parked) this.#park(task, message.held);
        break;
      case 'end':
        task.end();
        this.#finish(atWork);
        break;
      case 'stale':
        task.fail(new SchemaChanged());
        this.#finish(atWork);
        break;
      case 'failed':
        if (message.fault !== undefined) this.#report(message.fault);
        task.fail(receivedError(message));
        this.#finish(atWork);
        break;
      case 'resolve':
        void this.#resolve(task, message);
        break;
    }
  }

  async #resolve(task: ReadRequest, request: Extract<FromReader, { type: 'resolve' }>): Promise<void> {
    try {
      const plan = await task.resolve(request.path, request.classes, request.className);
      this.#send({ type: 'resolved', task: task.number, plan });
    } catch (error) {
      task.fail(error);
      task.onCancelled();
      this.#send({ type: 'resolved', task: task.number, plan: null });
    }
  }

  #park(task: ReadRequest, held: number): void {
    task.held = held;
    task.parkedAt = performance.now();
    this.#events.onParked();
    this.#events.onIdle();
  }

  #finish(atWork: AtWork): void {
    clearTimeout(atWork.watchdog);
    this.#tasks.delete(atWork.task.number);
    this.#unusedSince = performance.now();
    this.#events.onIdle();
  }

  #watch(atWork: AtWork): void {
    clearTimeout(atWork.watchdog);
    // Chunks may still be taken after the thread has finished.
    if (atWork.task.parked || this.#tasks.get(atWork.task.number) !== atWork) return;
    atWork.watchdog = setTimeout(() => {
      this.#lost(serviceError('timeout'));
      void this.#worker.terminate();
    }, atWork.task.timeLimit + GRACE_MS);
  }

  #lost(error: ServiceError): void {
    if (this.#gone) return;
    this.#gone = true;
    for (const { task, watchdog } of this.#tasks.values()) {
      clearTimeout(watchdog);
      task.fail(error);
    }
    this.#tasks.clear();
    for (const resolve of this.#maintenance.values()) resolve({});
    this.#events.onGone();
  }
}

function receivedError({ key, text, cause }: Extract<FromReader, { type: 'failed' }>): ServiceError {
  const error = new ServiceError(key, text);
  if (cause) error.cause = receivedFault(cause);
  return error;
}
