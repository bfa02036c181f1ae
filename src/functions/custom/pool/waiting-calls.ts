import type { ThreadCall } from './thread-call.ts';

/** Calls that wait for a thread, with a line per system. The systems take turns. */
export class WaitingCalls {
  /** By system, in the order of their turns. */
  readonly #lines = new Map<unknown, ThreadCall[]>();

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  add(call: ThreadCall): void {
    const line = this.#lines.get(call.system);
    if (line) line.push(call);
    else this.#lines.set(call.system, [call]);
  }

  /** Adds a call before the others of its system. */
  putBack(call: ThreadCall): void {
    this.#lines.set(call.system, [call, ...(this.#lines.get(call.system) ?? [])]);
  }

  /** Takes a call out, wherever it is. */
  remove(call: ThreadCall): void {
    const left = this.#lines.get(call.system)?.filter((other) => other !== call) ?? [];
    if (left.length > 0) this.#lines.set(call.system, left);
    else this.#lines.delete(call.system);
  }

  /** Returns the next call of each system, in the order of their turns. */
  *next(): Generator<ThreadCall> {
    for (const [first] of [...this.#lines.values()]) if (first) yield first;
  }

  /** Takes out the next call of a system, and moves the system to the end of the turns. */
  take(call: ThreadCall): void {
    const line = this.#lines.get(call.system) ?? [];
    line.shift();
    this.#lines.delete(call.system);
    if (line.length > 0) this.#lines.set(call.system, line);
  }

  /** Takes out all calls. */
  clear(): ThreadCall[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    return all;
  }
}
