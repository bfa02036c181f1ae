import type { CallEnd, GivenUp, OperationRequest } from '../thread/protocol.ts';
import type { FoundFunction } from './found-function.ts';

/** A call, as the threads see it. */
export interface ThreadCall {
  /** The system that it is for: any value that is unique per system. */
  readonly system: unknown;
  readonly function: FoundFunction;
  /** JSON of `GivenToCall`. */
  readonly given: string;
  /** Headers that carry the present trace on. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
  /** Whether its caller no longer waits. */
  isGivenUp(): boolean;
  /** Called when it is passed to a thread; once more if that thread was lost before the call began. */
  passed(run: RunOnThread): void;
  /** Executes an operation. @returns the result as JSON @throws errors of the catalogue; all others are faults, which are not told */
  operation(request: OperationRequest): Promise<string | undefined>;
  ended(end: CallEnd | LostCall | OutdatedCall): void;
}

/** The call was not begun: the function has changed, or cannot be loaded any more. */
export interface OutdatedCall {
  readonly kind: 'outdated';
}

/** A call that was passed to a thread. */
export interface RunOnThread {
  /** Aborts it. */
  giveUp(key: GivenUp): void;
  /** Whether it has begun. If something occupies the thread for so long that it has not, the thread is ended, and the call passed to another one. */
  hasBegun(): boolean;
}

/** The call has lost its thread. */
export interface LostCall {
  readonly kind: 'lost';
  /** The message for the caller if this call is the cause; `null` if another one is, or may be. */
  readonly message: string | null;
}
