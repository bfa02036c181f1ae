import { fail, serviceError } from '../errors/fail.ts';

/** Identifies the system, and the caller within it, that a task is queued for. */
export interface Turn {
  /** Any value that is unique per system, such as its store or its name. */
  readonly system: unknown;
  /** A network, a user or a key; empty if the caller is unknown. */
  readonly caller: string;
  /** Returns whether the result is no longer needed. The task is then rejected instead of run. */
  readonly isAbandoned?: () => boolean;
}

/** Limits of a queue, in tasks. */
export interface QueueBounds {
  readonly concurrency: number;
  readonly maxWaiting: number;
  /** Slots that each system has regardless of others, beyond `concurrency` if necessary. Default: 0. */
  readonly guaranteedPerSystem?: number;
}

interface Waiting {
  start(): void;
  refuse(): void;
}

/** The waiting tasks of a system, by caller. */
interface OfSystem {
  readonly lines: Map<string, Waiting[]>;
  size: number;
}

/**
 * A queue shared by all systems, scheduled round-robin: over systems, and within a system over its callers, each in FIFO order. When the queue is
 * full, the newest task of the longest line of the system with most waiting tasks is refused, so that no caller can fill the queue at the expense of
 * others.
 */
export class FairQueue {
  readonly #bounds: QueueBounds;
  /** In scheduling order, like the lines of each system. */
  readonly #systems = new Map<unknown, OfSystem>();
  #waiting = 0;
  #busy = 0;
  readonly #busyOf = new Map<unknown, number>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** Runs the task in its turn. @throws unavailable (503) if the queue is full, or `isGone` when its turn comes */
  run<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = () => {
        this.#count(turn.system, 1);
        const end = () => {
          this.#count(turn.system, -1);
          this.#next(turn.system);
        };
        const begin = async () => (turn.isAbandoned?.() ? fail('unavailable') : work());
        begin().finally(end).then(resolve, reject);
      };
      if (this.#busy < this.#bounds.concurrency || this.#hasOwn(turn.system)) start();
      else this.#wait(turn, { start, refuse: () => reject(serviceError('unavailable')) });
    });
  }

  #count(system: unknown, more: number): void {
    this.#busy += more;
    const busy = (this.#busyOf.get(system) ?? 0) + more;
    if (busy > 0) this.#busyOf.set(system, busy);
    else this.#busyOf.delete(system);
  }

  #hasOwn(system: unknown): boolean {
    return (this.#busyOf.get(system) ?? 0) < (this.#bounds.guaranteedPerSystem ?? 0);
  }

  #wait({ system, caller }: Turn, waiting: Waiting): void {
    const ofSystem = this.#systems.get(system) ?? { lines: new Map(), size: 0 };
    this.#systems.set(system, ofSystem);
    const line = ofSystem.lines.get(caller) ?? [];
    ofSystem.lines.set(caller, line);
    line.push(waiting);
    ofSystem.size++;
    if (++this.#waiting > this.#bounds.maxWaiting) this.#refuseLast();
  }

  #refuseLast(): void {
    const [system, ofSystem] = lastLargest(this.#systems, ({ size }) => size);
    const [caller, line] = lastLargest(ofSystem.lines, ({ length }) => length);
    const last = line.pop();
    this.#left(system, ofSystem, caller, line);
    last?.refuse();
  }

  /** @param ended the system whose task has ended */
  #next(ended: unknown): void {
    const [first] = this.#systems.keys();
    if (this.#busy < this.#bounds.concurrency && first !== undefined) this.#startOne(first);
    if (this.#hasOwn(ended)) this.#startOne(ended);
  }

  /** Starts the next waiting task of a system, if there is one. */
  #startOne(system: unknown): void {
    const ofSystem = this.#systems.get(system);
    if (!ofSystem) return;
    const [[caller, line] = ['', []]] = ofSystem.lines;
    const waited = line.shift();
    // Moves the caller and the system to the end of the order.
    ofSystem.lines.delete(caller);
    ofSystem.lines.set(caller, line);
    this.#systems.delete(system);
    this.#systems.set(system, ofSystem);
    this.#left(system, ofSystem, caller, line);
    waited?.start();
  }

  #left(system: unknown, ofSystem: OfSystem, caller: string, line: readonly Waiting[]): void {
    this.#waiting--;
    ofSystem.size--;
    if (line.length === 0) ofSystem.lines.delete(caller);
    if (ofSystem.size === 0) this.#systems.delete(system);
  }
}

/** Returns the entry with the largest size; of several, the last one in iteration order. */
function lastLargest<K, V>(of: ReadonlyMap<K, V>, sizeOf: (value: V) => number): readonly [K, V] {
  let found: readonly [K, V] | undefined;
  for (const entry of of) if (!found || sizeOf(entry[1]) >= sizeOf(found[1])) found = entry;
  if (!found) throw new Error('nothing waits');
  return found;
}
