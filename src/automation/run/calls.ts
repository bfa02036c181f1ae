/** Limit of remembered calls. */
const MAX_REMEMBERED = 10_000;

/** The result of a call: `null` for success, else the text for the log. */
type CallResult = { readonly error: string | null };

/**
 * Calls of functions that this process has started and whose result is not yet recorded. Prevents a second call if the store is unavailable when the
 * result is to be recorded.
 */
export class Calls {
  /** By the objectId of the action's row in the log. */
  readonly #calls = new Map<string, CallResult | null>();

  /** Whether a start recorded in the job's row was made by this process, so that it was not interrupted by the end of a process. */
  isOwn(runId: string): boolean {
    return this.#calls.has(runId);
  }

  /** Returns the result of a call that has ended; `null` if it must be made. */
  resultOf(runId: string): CallResult | null {
    return this.#calls.get(runId) ?? null;
  }

  begin(runId: string): void {
    this.#calls.set(runId, null);
    // Bounds the map: some results were recorded by commits whose outcome is unknown.
    if (this.#calls.size > MAX_REMEMBERED) this.#calls.delete(this.#calls.keys().next().value as string);
  }

  end(runId: string, error: string | null): void {
    this.#calls.set(runId, { error });
  }

  /** Forgets a call whose result is recorded, or whose job another process owns. */
  forget(runId: string): void {
    this.#calls.delete(runId);
  }
}
