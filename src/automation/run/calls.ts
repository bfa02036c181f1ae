/** Calls that are remembered. */
const MAX_REMEMBERED = 10_000;

/** What became of a call: `null`: all went well; else what the log is to say. */
type Ending = { readonly error: string | null };

/**
 * Calls of functions that this process has begun in their turn, until what became of them is noted: should the store be away just then, they are
 * not made again.
 */
export class Calls {
  /** By the id of the action's row. */
  readonly #calls = new Map<string, Ending | null>();

  /** Whether a start that the job's row tells of was made here: it did not end with its process. */
  isOwn(runId: string): boolean {
    return this.#calls.has(runId);
  }

  /** What became of one that has ended; `null` where it is to be made. */
  endingOf(runId: string): Ending | null {
    return this.#calls.get(runId) ?? null;
  }

  begin(runId: string): void {
    this.#calls.set(runId, null);
    // Of some the end was noted without an answer.
    if (this.#calls.size > MAX_REMEMBERED) this.#calls.delete(this.#calls.keys().next().value as string);
  }

  end(runId: string, error: string | null): void {
    this.#calls.set(runId, { error });
  }

  /** It is noted, or somebody else's. */
  forget(runId: string): void {
    this.#calls.delete(runId);
  }
}
