import type { ServerResponse } from 'node:http';
import { leastBytesIn, PACE_INTERVAL_MS, takenBytes } from './pace.ts';

/** A whole answer that is in memory until its client has taken it. */
class Untaken {
  readonly response: ServerResponse;
  /** The network of its client. */
  readonly caller: string;
  readonly size: number;
  isSlow = false;
  /** Bytes at the last measure; without end before the first, and where nothing waited for the client. */
  #measured = Number.POSITIVE_INFINITY;

  constructor(response: ServerResponse, caller: string, size: number) {
    this.response = response;
    this.caller = caller;
    this.size = size;
  }

  measure(): void {
    const taken = takenBytes(this.response);
    const isMeasured = Number.isFinite(taken) && Number.isFinite(this.#measured);
    this.isSlow = isMeasured && taken - this.#measured < leastBytesIn(PACE_INTERVAL_MS);
    this.#measured = taken;
  }
}

/**
 * Long answers that are in memory whole, with a bound on all of them. Where they are more, those whose clients do not take them are closed
 * (docs/adr/0017-admission.md).
 */
export class UntakenAnswers {
  readonly #most: number;
  /** In the order in which they were made. */
  readonly #answers = new Set<Untaken>();
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param most bytes */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts an answer until its client has taken it, or is gone. */
  add(response: ServerResponse, caller: string, size: number): void {
    // A client that is gone takes nothing, and is gone once.
    if (response.destroyed || response.closed) return;
    const answer = new Untaken(response, caller, size);
    this.#answers.add(answer);
    this.#size += size;
    for (const event of ['finish', 'close']) response.once(event, () => this.#remove(answer));
    this.#timer ??= setInterval(() => this.#measure(), PACE_INTERVAL_MS).unref();
    this.#letGo(answer);
  }

  #remove(answer: Untaken): void {
    if (!this.#answers.delete(answer)) return;
    this.#size -= answer.size;
    if (this.#answers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #measure(): void {
    for (const answer of this.#answers) answer.measure();
  }

  /** Keeps them within the bound. @param added the one that is yet to be sent */
  #letGo(added: Untaken): void {
    while (this.#size > this.#most) {
      const others = [...this.#answers].filter((answer) => answer !== added);
      const slow = others.filter(({ isSlow }) => isSlow);
      const answer = oldestOfMost(slow.length > 0 ? slow : others);
      if (!answer) return;
      this.#remove(answer);
      answer.response.destroy();
    }
  }
}

/** Of the network with the most bytes the answer that has waited longest. */
function oldestOfMost(answers: readonly Untaken[]): Untaken | undefined {
  const sizes = new Map<string, number>();
  for (const { caller, size } of answers) sizes.set(caller, (sizes.get(caller) ?? 0) + size);
  const most = Math.max(...sizes.values());
  return answers.find(({ caller }) => sizes.get(caller) === most);
}
