import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { closeListener, waitForQuiet } from '../kernel/listening-socket.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { HOUR_MS } from '../kernel/time.ts';
import type { Command, Listening } from './messages.ts';
import { type SharedListeningSocket, watchListeningSocket } from './shared-socket.ts';

/** A process that lives shorter than this, in milliseconds, is not restarted at once: it would probably fail again. */
const SHORT_LIFE_MS = 5_000;
/** Delay before such a process is restarted while others serve: the database may be unavailable. */
const RESTART_DELAY_MS = 1_000;
/** Time limit for a process to exit, in milliseconds; longer than the time it grants its requests. */
const END_TIMEOUT_MS = 40_000;
/** Time limit for a new process to listen while the service is reloaded, in milliseconds. */
const START_TIMEOUT_MS = 120_000;
/** How long a reload waits for a retired process to end before it starts the next one, in milliseconds: its requests may take longer. */
const PACE_MS = 5_000;
/** Time limit for the requests of a retired process, in milliseconds: the longest that a request may take to arrive. */
const RETIRED_TIMEOUT_MS = HOUR_MS;

/** A worker process. */
interface Member {
  readonly worker: Worker;
  /** Number of the reload that started it; 0: the start of the service. */
  readonly generation: number;
  readonly began: number;
  /** Resolves when it listens. */
  readonly listening: Promise<Listening>;
  readonly ended: Promise<void>;
  /** Whether a reload waits for it to listen, and reports if it does not. */
  readonly isAwaited: boolean;
  state: 'starting' | 'serving' | 'retired';
}

/** What happens to the workers as a whole. */
export interface FleetEvents {
  /** All of them listen; called once. */
  listening(address: string): void;
}

/** Result of a reload. */
export interface ReloadResult {
  /** Number of processes that serve now. */
  readonly processes: number;
  /** Number of old processes that still finish requests. */
  readonly finishing: number;
  /** Version of the service that the new processes run. */
  readonly version: string | undefined;
}

/**
 * The worker processes of a service, which share one address: starts them, replaces those that end, and on request replaces all one by one.
 * Reference: operations.md#processes.
 */
export class Fleet {
  readonly #socket: SharedListeningSocket = watchListeningSocket();
  readonly #members = new Set<Member>();
  readonly #variables: Readonly<Record<string, string>>;
  readonly #startTimeoutMs: number;
  /** Number of workers wanted. */
  #count: number;
  #generation = 0;
  #hasStarted = false;
  #events: FleetEvents | undefined;
  readonly #failed = Promise.withResolvers<never>();
  /** Resolves when the service stops. */
  readonly #stop = Promise.withResolvers<void>();
  #isStopping = false;

  /**
   * @param variables of the environment of each worker, beside those of this process
   * @param startTimeoutMs time limit for a new process to listen while the service is reloaded
   */
  constructor(count: number, variables: Readonly<Record<string, string>>, startTimeoutMs = START_TIMEOUT_MS) {
    this.#count = count;
    this.#startTimeoutMs = startTimeoutMs;
    this.#variables = variables;
    this.#failed.promise.catch(() => {});
  }

  /**
   * Starts the workers, serves until the service must stop, and stops them all.
   * @param stopped resolves when the service must stop
   * @throws OperatorError if a worker exits before it could serve; the worker has logged the reason
   */
  async serve(stopped: Promise<void>, events: FleetEvents): Promise<void> {
    this.#events = events;
    this.#refill();
    try {
      await Promise.race([stopped, this.#failed.promise]);
    } finally {
      await this.#end();
    }
  }

  /**
   * Replaces the workers one by one: a new one starts and listens, then an old one accepts no more connections, finishes its requests and ends.
   * New ones run the program, and read the settings, as they are on the disk now.
   * @param count number of workers wanted from now on
   * @returns null if the service stops meanwhile
   * @throws OperatorError if a new one cannot serve; those that serve then go on
   */
  async reload(count: number): Promise<ReloadResult | null> {
    const generation = ++this.#generation;
    const isNew = (member: Member) => member.generation === generation;
    let version: string | undefined;
    try {
      while (!this.#isStopping) {
        // Of processes that ended by themselves meanwhile.
        for (const member of this.#active('starting'))
          await this.#untilServing(
            member,
            member.ended.then(() => undefined),
          );
        const serving = this.#active('serving');
        const old = serving.filter((member) => !isNew(member));
        const surplus = serving.length - old.length - count;
        if (old.length === 0 && surplus >= 0) {
          for (const member of serving.slice(0, surplus)) this.#retire(member);
          this.#count = count;
          return { processes: count, finishing: this.#active('retired').length, version };
        }
        if (surplus < 0) version = (await this.#startOne()) ?? version;
        const [next] = old;
        if (!next || this.#isStopping) continue;
        this.#retire(next);
        await this.#firstOf(next.ended, wait(PACE_MS, undefined, { ref: false }));
      }
      return null;
    } catch (error) {
      this.#refill();
      throw error;
    }
  }

  /** Number of processes that serve now. */
  get serving(): number {
    return this.#active('serving').length;
  }

  /** Starts a worker for a reload and waits until it listens. @returns its version @throws OperatorError */
  async #startOne(): Promise<string | undefined> {
    const member = this.#start(true);
    return await this.#untilServing(
      member,
      member.ended.then(() => 'it ended before it listened'),
    );
  }

  /**
   * Waits until a process listens, and ends one that takes too long.
   * @param ended resolves when it ends, with why that is a fault, if it is
   * @returns its version @throws OperatorError
   */
  async #untilServing({ worker, listening }: Member, ended: Promise<string | undefined>): Promise<string | undefined> {
    const late = wait(this.#startTimeoutMs, `it did not listen within ${this.#startTimeoutMs / 1000} s`, { ref: false });
    const found = await this.#firstOf<Listening | string | undefined>(listening, ended, late);
    if (typeof found === 'object') return found.version;
    if (found === undefined) return undefined;
    worker.process.kill('SIGKILL');
    throw new OperatorError(`a new process could not serve: ${found}`);
  }

  /** Resolves with the first of them; undefined if the service stops before. */
  #firstOf<T>(...those: Promise<T>[]): Promise<T | undefined> {
    return Promise.race([this.#stop.promise.then(() => undefined), ...those]);
  }

  #start(isAwaited = false): Member {
    const worker = cluster.fork(this.#variables);
    const { promise: listening, resolve } = Promise.withResolvers<Listening>();
    const ended = new Promise<void>((done) => worker.once('exit', () => done()));
    const member: Member = {
      worker,
      generation: this.#generation,
      began: performance.now(),
      listening,
      ended,
      isAwaited,
      state: 'starting',
    };
    this.#members.add(member);
    worker.on('message', (message: Partial<Listening> | null) => {
      if (typeof message?.listening !== 'string') return;
      if (member.state === 'starting') member.state = 'serving';
      resolve(message as Listening);
      if (this.#hasStarted || this.#isStopping || this.serving < this.#count) return;
      this.#hasStarted = true;
      this.#events?.listening(message.listening);
    });
    worker.once('exit', () => {
      this.#members.delete(member);
      this.#socket.processEnded();
      this.#replace(member);
    });
    return member;
  }

  /** Starts another worker for one that has ended without being asked to. */
  #replace({ state, began, isAwaited }: Member): void {
    if (this.#isStopping || state === 'retired' || (state === 'starting' && isAwaited)) return;
    if (performance.now() - began >= SHORT_LIFE_MS) this.#refill();
    else if (this.#hasStarted) setTimeout(() => this.#refill(), RESTART_DELAY_MS).unref();
    else this.#failed.reject(new OperatorError('a process of the service ended as soon as it began'));
  }

  /** Starts workers until there are enough. */
  #refill(): void {
    if (this.#isStopping) return;
    for (let n = this.#active('starting', 'serving').length; n < this.#count; n++) this.#start();
  }

  #retire(member: Member): void {
    member.state = 'retired';
    tell(member, 'retire');
    const timer = setTimeout(() => tell(member, 'end'), RETIRED_TIMEOUT_MS).unref();
    void member.ended.then(() => clearTimeout(timer));
  }

  #active(...states: readonly Member['state'][]): Member[] {
    return [...this.#members].filter(({ state }) => states.includes(state));
  }

  async #end(): Promise<void> {
    this.#isStopping = true;
    this.#stop.resolve();
    const members = [...this.#members];
    for (const member of members) tell(member, 'drain');
    // Connections still in the accept queue are handed to workers that take requests.
    if (this.#hasStarted) {
      await waitForQuiet(() => this.#socket.accepted);
      await closeListener(this.#socket);
    }
    for (const member of members) tell(member, 'end');
    await Promise.race([Promise.all(members.map(({ ended }) => ended)), wait(END_TIMEOUT_MS, undefined, { ref: false })]);
    for (const { worker } of this.#members) worker.process.kill('SIGKILL');
  }
}

function tell({ worker }: Member, command: Command): void {
  if (worker.isConnected()) worker.send(command, () => {});
}
