import type { ServerResponse } from 'node:http';
import { minBytesIn, PACE_INTERVAL_MS, sentBytes } from './pace.ts';

/** A complete response in memory that its client has not yet read. */
class BufferedAnswer {
  readonly response: ServerResponse;
  /** The network of the client. */
  readonly caller: string;
  readonly size: number;
  isSlow = false;
  /** Bytes at the last measurement; infinity before the first, and when nothing waited for the client. */
  #measured = Number.POSITIVE_INFINITY;

  constructor(response: ServerResponse, caller: string, size: number) {
    this.response = response;
    this.caller = caller;
    this.size = size;
  }

  measure(): void {
    const taken = sentBytes(this.response);
    const isMeasured = Number.isFinite(taken) && Number.isFinite(this.#measured);
    this.isSlow = isMeasured && taken - this.#measured < minBytesIn(PACE_INTERVAL_MS);
    this.#measured = taken;
  }
}

/**
 * Bounds the memory of all long, complete responses. Beyond the limit, connections whose clients do not read are closed, slow ones first (adr/0017).
 */
export class BufferedAnswers {
  readonly #maxBytes: number;
  /** In order of creation. */
  readonly #answers = new Set<BufferedAnswer>();
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxBytes total size of the responses */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts a response until it is sent or its connection is closed. */
  add(response: ServerResponse, caller: string, size: number): void {
    // A closed connection emits no further event, so the response would be counted for ever.
    if (response.destroyed || response.closed) return;
    const answer = new BufferedAnswer(response, caller, size);
    this.#answers.add(answer);
    this.#size += size;
    for (const event of ['finish', 'close']) response.once(event, () => this.#remove(answer));
    this.#timer ??= setInterval(() => this.#measure(), PACE_INTERVAL_MS).unref();
    this.#evict(answer);
  }

  #remove(answer: BufferedAnswer): void {
    if (!this.#answers.delete(answer)) return;
    this.#size -= answer.size;
    if (this.#answers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #measure(): void {
    for (const answer of this.#answers) answer.measure();
  }

  /** Closes connections until the total is within the limit. @param added the newest response, which is exempt */
  #evict(added: BufferedAnswer): void {
    while (this.#size > this.#maxBytes) {
      const others = [...this.#answers].filter((answer) => answer !== added);
      const slow = others.filter(({ isSlow }) => isSlow);
      const answer = oldestOfLargestNetwork(slow.length > 0 ? slow : others);
      if (!answer) return;
      this.#remove(answer);
      answer.response.destroy();
    }
  }
}

/** Returns the oldest response of the network that holds the most bytes. */
function oldestOfLargestNetwork(answers: readonly BufferedAnswer[]): BufferedAnswer | undefined {
  const sizes = new Map<string, number>();
  for (const { caller, size } of answers) sizes.set(caller, (sizes.get(caller) ?? 0) + size);
  const maxSize = Math.max(...sizes.values());
  return answers.find(({ caller }) => sizes.get(caller) === maxSize);
}
