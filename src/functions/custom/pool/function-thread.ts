import type { MessagePort, Worker } from 'node:worker_threads';
import { ServiceError } from '../../../errors/fail.ts';
import type { FoundFile } from '../loading/directory.ts';
import { loadingTooLong } from '../loading/importer.ts';
import {
  type CallEnd,
  type FromThread,
  type GivenUp,
  type OperationRequest,
  receivedError,
  sentServiceError,
  type ThreadLogLine,
  type ToThread,
} from '../thread/protocol.ts';
import type { FoundFunction } from './found-function.ts';
import { MemoryWatch } from './memory-watch.ts';
import { startWorker, type ThreadOptions } from './start-worker.ts';
import type { LostCall, ThreadCall } from './thread-call.ts';
import { type LoadOnThread, ThreadLoads, threadLost } from './thread-loads.ts';

/** Time in milliseconds in which a thread reacts when a call on it is over its limit; then it is ended, for a loop occupies it. */
const GRACE_MS = 1_000;
/** Callbacks of a thread. */
export interface ThreadEvents {
  onLog(line: ThreadLogLine): void;
  /** A function has imported more files. */
  onFiles(message: Extract<FromThread, { type: 'files' }>): void;
  /** It is alive while calls wait on it, and could take another one. */
  onAlive(): void;
  /** It could not be started, or ended by a fault. */
  onFault(error: unknown): void;
  /** It is gone. @param unbegun calls that it never began */
  onGone(unbegun: readonly ThreadCall[]): void;
}

/** Why a thread ends: the message for the caller of the call that is the cause, and which one that is, if known. */
interface Ending {
  readonly message: string;
  readonly call?: number;
}

/** The service's side of one thread that runs functions. */
export class FunctionThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #options: ThreadOptions;
  readonly #events: ThreadEvents;
  readonly #begun = new Int32Array(new SharedArrayBuffer(4));
  /** The versions that it has loaded, by name. */
  readonly #loaded = new Map<string, FoundFunction>();
  readonly #loads = new ThreadLoads();
  /** Calls that have not ended, those given up included. */
  readonly #calls = new Map<number, ThreadCall>();
  readonly #waitedFor = new Set<number>();
  readonly #memory: MemoryWatch;
  #last = 0;
  #busySince = 0;
  #idleSince = performance.now();
  /** The last call when it was pinged: a call that is passed after that may occupy the thread. */
  #pingedAfter: number | undefined;
  #silence: NodeJS.Timeout | undefined;
  #beginCheck: NodeJS.Timeout | undefined;
  #ending: Ending | undefined;
  #isGone = false;

  /** @throws if the operating system refuses another thread */
  constructor(options: ThreadOptions, events: ThreadEvents) {
    this.#options = options;
    this.#events = events;
    const { worker, port } = startWorker(options, this.#begun);
    this.#worker = worker;
    this.#port = port;
    port.on('message', (message: FromThread) => this.#receive(message));
    // Threads must not keep the process alive.
    port.unref();
    worker.unref();
    this.#worker.on('error', (error: Error & { code?: string }) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#ending ??= { message: TOO_MUCH_MEMORY };
      else events.onFault(error);
    });
    this.#worker.on('exit', () => this.#gone());
    const busyMs = () => (this.#calls.size + this.#loads.size > 0 ? this.busyMs : 0);
    this.#memory = new MemoryWatch(worker, options.memoryMb, busyMs, () => this.#end({ message: TOO_MUCH_MEMORY }));
  }

  /** The systems of the calls that callers wait for. */
  *systems(): Generator<unknown> {
    for (const call of this.#waitedFor) yield this.#calls.get(call)?.system;
  }

  /** Whether it neither loads a file nor has a call that a caller waits for, nor may be occupied by one that was given up. */
  get isIdle(): boolean {
    return this.#waitedFor.size === 0 && this.#loads.size === 0 && this.#silence === undefined;
  }

  get isLoading(): boolean {
    return this.#loads.size > 0;
  }

  /** Whether no call is on it, not even one that was given up. */
  get hasNoCalls(): boolean {
    return this.#calls.size === 0;
  }

  /** Milliseconds for which it has had calls without a break. */
  get busyMs(): number {
    return performance.now() - this.#busySince;
  }

  /** Milliseconds for which it has been idle, if it is. */
  get idleMs(): number {
    return performance.now() - this.#idleSince;
  }

  /** Whether it has loaded this version. */
  holds({ name, files }: FoundFunction): boolean {
    return this.#loaded.get(name)?.files === files;
  }

  /** The versions that it has loaded. */
  versions(): MapIterator<FoundFunction> {
    return this.#loaded.values();
  }

  /** Loads the current version of a file. Never rejects. */
  async load(name: string, file: FoundFile): Promise<LoadOnThread> {
    const wasUsed = this.#last > 0;
    if (this.isIdle) this.#becomeBusy();
    const loading = this.#loads.add(name, wasUsed);
    if (this.#isGone) this.#loads.fail(threadLost());
    this.#send({ type: 'load', name, file });
    // It says at once that it has received this, unless something occupies it. A new thread takes some time to start.
    if (wasUsed) this.#expectSign();
    // It has a limit of its own for the file, which a loop does not let it keep.
    const { timeLimit } = this.#options;
    const timer = setTimeout(() => this.#end({ message: loadingTooLong(timeLimit).message }), timeLimit + GRACE_MS);
    const outcome = await loading;
    clearTimeout(timer);
    this.#idleSince = performance.now();
    return outcome;
  }

  /** Notes that it has loaded a version. */
  note(version: FoundFunction): void {
    this.#loaded.set(version.name, version);
  }

  /** Begins a call of a function that is loaded. */
  begin(call: ThreadCall): void {
    const number = ++this.#last;
    this.#calls.set(number, call);
    if (this.#waitedFor.size === 0) this.#becomeBusy();
    this.#waitedFor.add(number);
    this.#beginCheck ??= setTimeout(() => this.#checkBegun(), GRACE_MS).unref();
    const { given, trace, function: called } = call;
    this.#send({ type: 'call', call: number, name: called.name, given, ...(trace && { trace }) });
    call.passed({
      giveUp: (key) => this.#giveUp(number, key),
      hasBegun: () => {
        if (number <= Atomics.load(this.#begun, 0)) return true;
        this.#expectSign();
        this.#send({ type: 'ping' });
        return false;
      },
    });
  }

  /** Asks whether it receives messages; `onAlive` is the answer. */
  ping(): void {
    if (this.#pingedAfter !== undefined) return;
    this.#pingedAfter = this.#last;
    this.#send({ type: 'ping' });
  }

  /** Ends the thread and whatever runs on it. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #becomeBusy(): void {
    this.#busySince = performance.now();
    this.#memory.busy();
  }

  #send(message: ToThread): void {
    if (!this.#isGone) this.#port.postMessage(message);
  }

  #giveUp(call: number, key: GivenUp): void {
    if (!this.#waitedFor.delete(call)) return;
    this.#idleSince = performance.now();
    this.#send({ type: 'abort', call, key });
    this.#expectSign();
  }

  /** Ends the thread if it begins none of its calls: something that an earlier one has left behind occupies it. */
  #checkBegun(): void {
    this.#beginCheck = undefined;
    if (this.#waitedFor.size === 0 || this.#isGone) return;
    const begun = Atomics.load(this.#begun, 0);
    const hasBegunNone = this.#waitedFor.values().every((number) => number > begun);
    if (hasBegunNone && this.busyMs >= GRACE_MS) this.#end({ message: '' });
    else this.#beginCheck = setTimeout(() => this.#checkBegun(), GRACE_MS).unref();
  }

  /** Ends the thread if it does not react soon. */
  #expectSign(): void {
    this.#silence ??= setTimeout(() => this.#end({ message: '' }), GRACE_MS);
  }

  #receive(message: FromThread): void {
    switch (message.type) {
      case 'alive': {
        clearTimeout(this.#silence);
        this.#silence = undefined;
        const isOpen = this.#pingedAfter === this.#last;
        this.#pingedAfter = undefined;
        if (isOpen || this.isIdle) this.#events.onAlive();
        break;
      }
      case 'imported':
        this.#loads.imported(message.path, message.stamp);
        break;
      case 'loaded': {
        const { files, result } = message;
        const settled = 'failure' in result ? { failure: receivedError(result.failure) } : { loaded: result.described };
        this.#loads.settle(message.name, files, settled);
        break;
      }
      case 'files':
        this.#events.onFiles(message);
        break;
      case 'operation':
        void this.#operate(message.call, message.operation, message.request);
        break;
      case 'ended':
        this.#callEnded(message.call, message.end);
        break;
      case 'log':
        this.#events.onLog(message.line);
        break;
      case 'exiting':
        this.#ending ??= { message: EXITED, ...(message.call !== null && { call: message.call }) };
        break;
    }
  }

  #callEnded(number: number, end: CallEnd | LostCall): void {
    const call = this.#calls.get(number);
    this.#calls.delete(number);
    this.#waitedFor.delete(number);
    this.#idleSince = performance.now();
    call?.ended(end);
    if (this.isIdle) this.#events.onAlive();
  }

  async #operate(number: number, operation: number, request: OperationRequest): Promise<void> {
    try {
      const text = await this.#calls.get(number)?.operation(request);
      this.#send({ type: 'answer', operation, ...(text !== undefined && { text }) });
    } catch (error) {
      this.#send({ type: 'refusal', operation, error: error instanceof ServiceError ? sentServiceError(error) : null });
    }
  }

  /** @param ending the reason; the first one counts */
  #end(ending: Ending): void {
    this.#ending ??= ending;
    void this.#worker.terminate();
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#memory.close();
    clearTimeout(this.#silence);
    clearTimeout(this.#beginCheck);
    // Messages that were sent before the end have to count: a call may have ended.
    setImmediate(() => this.#settleAll());
  }

  #settleAll(): void {
    this.#port.close();
    const begun = Atomics.load(this.#begun, 0);
    const { message, call: culprit } = this.#ending ?? { message: EXITED };
    this.#loads.fail(this.#ending && message !== '' ? new Error(message) : threadLost());
    const waitedFor = [...this.#waitedFor];
    const running = waitedFor.filter((number) => number <= begun);
    const unbegun = waitedFor.filter((number) => number > begun).map((number) => this.#calls.get(number) as ThreadCall);
    const cause = culprit ?? (running.length === 1 && message !== '' ? running[0] : undefined);
    for (const number of running) this.#calls.get(number)?.ended({ kind: 'lost', message: number === cause ? message : null });
    this.#calls.clear();
    this.#waitedFor.clear();
    this.#events.onGone(unbegun);
  }
}

const TOO_MUCH_MEMORY = 'The function used too much memory and was ended.';
const EXITED = 'The function ended its thread.';
