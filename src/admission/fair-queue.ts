import { fail, serviceError } from '../errors/fail.ts';

/** Whose turn it is: that of a system, and in it that of a caller. */
export interface Turn {
  /** Its store, its name: what is one for each. */
  readonly system: unknown;
  /** A network, a user, a key; empty where nobody is known. */
  readonly caller: string;
  /** Whether nobody waits for the work any more: it is not done then. */
  readonly isGone?: () => boolean;
}

/** How much of the work is done at once, and how much may wait. */
export interface QueueBounds {
  readonly atOnce: number;
  readonly waiting: number;
  /** So many of each system are done at once whatever others do, beyond `atOnce` too: 0 where it is left out. */
  readonly ownAtOnce?: number;
}

interface Waiting {
  start(): void;
  refuse(): void;
}

/** The lines of a system's callers. */
interface OfSystem {
  readonly lines: Map<string, Waiting[]>;
  size: number;
}

/**
 * Work that all systems share, done in turn: one of each system, in it one of each caller, in the order in which they came. Where too much
 * waits, it is the longest line of the system with most of it that loses its last one, so that nobody can fill the queue against others.
 */
export class FairQueue {
  readonly #bounds: QueueBounds;
  /** In the order of their turns, as the lines of each are. */
  readonly #systems = new Map<unknown, OfSystem>();
  #waiting = 0;
  #busy = 0;
  readonly #busyOf = new Map<unknown, number>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** Does the work in its turn. @throws unavailable (503) where too many wait, or nobody waits for it when its turn comes */
  run<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = () => {
        this.#count(turn.system, 1);
        const end = () => {
          this.#count(turn.system, -1);
          this.#next(turn.system);
        };
        const begin = async () => (turn.isGone?.() ? fail('unavailable') : work());
        begin().finally(end).then(resolve, reject);
      };
      if (this.#busy < this.#bounds.atOnce || this.#hasOwn(turn.system)) start();
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
    return (this.#busyOf.get(system) ?? 0) < (this.#bounds.ownAtOnce ?? 0);
  }

  #wait({ system, caller }: Turn, waiting: Waiting): void {
    const ofSystem = this.#systems.get(system) ?? { lines: new Map(), size: 0 };
    this.#systems.set(system, ofSystem);
    const line = ofSystem.lines.get(caller) ?? [];
    ofSystem.lines.set(caller, line);
    line.push(waiting);
    ofSystem.size++;
    if (++this.#waiting > this.#bounds.waiting) this.#refuseLast();
  }

  #refuseLast(): void {
    const [system, ofSystem] = longest(this.#systems, ({ size }) => size);
    const [caller, line] = longest(ofSystem.lines, ({ length }) => length);
    const last = line.pop();
    this.#left(system, ofSystem, caller, line);
    last?.refuse();
  }

  /** @param ended the system whose work has ended */
  #next(ended: unknown): void {
    const [first] = this.#systems.keys();
    if (this.#busy < this.#bounds.atOnce && first !== undefined) this.#startOne(first);
    if (this.#hasOwn(ended)) this.#startOne(ended);
  }

  /** Starts what is next of a system, if anything waits. */
  #startOne(system: unknown): void {
    const ofSystem = this.#systems.get(system);
    if (!ofSystem) return;
    const [[caller, line] = ['', []]] = ofSystem.lines;
    const waited = line.shift();
    // Behind the others.
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

/** The entry of which there is most; of several the one that came last. */
function longest<K, V>(of: ReadonlyMap<K, V>, sizeOf: (value: V) => number): readonly [K, V] {
  let found: readonly [K, V] | undefined;
  for (const entry of of) if (!found || sizeOf(entry[1]) >= sizeOf(found[1])) found = entry;
  if (!found) throw new Error('nothing waits');
  return found;
}
