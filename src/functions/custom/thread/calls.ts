import { serviceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { FunctionContext } from '../api/definition.ts';
import { failureOf, passingFaultIn } from '../loading/failure.ts';
import type { LoadedFunction } from '../loading/importer.ts';
import { asFunction, asService, type RunningFunction } from '../loading/unhandled-errors.ts';
import { Operations } from './operations.ts';
import { OwnFiles } from './own-files.ts';
import { type CallEnd, type FromThread, type GivenToCall, sentError, type ToThread } from './protocol.ts';
import { type Perform, remoteRecords } from './remote-records.ts';
import { RunGuard } from './run-guard.ts';

/** The calls that run on this thread. */
export class ThreadCalls {
  readonly #post: (message: FromThread) => void;
  readonly #operations: Operations;
  /** The calls that have not ended. */
  readonly #running = new Map<number, { readonly guard: RunGuard; readonly who: RunningFunction }>();

  constructor(post: (message: FromThread) => void) {
    this.#post = post;
    this.#operations = new Operations(post);
  }

  /** Runs a call and reports its end. Never throws. */
  async run(loaded: LoadedFunction, { call, given: text, trace }: Extract<ToThread, { type: 'call' }>): Promise<void> {
    const given = JSON.parse(text) as GivenToCall;
    const guard = new RunGuard();
    const who = { system: given.appId, function: loaded.name, call, trace };
    this.#running.set(call, { guard, who });
    const files = new OwnFiles();
    if (given.record) files.give(given.record as JsonObject);
    const system = remoteRecords(given.appId, given.systemName, files, this.#perform(call, guard));
    const end = await asFunction(who, () => execute(loaded, given, { system, signal: guard.signal })).catch(failed);
    guard.end();
    this.#running.delete(call);
    this.#post({ type: 'ended', call, end });
  }

  /** Aborts the signal of a call, and closes its records. Its listeners are the function's code, and get an error object of their own. */
  abort({ call, key }: Extract<ToThread, { type: 'abort' }>): void {
    const running = this.#running.get(call);
    // As a promise, since a function may have replaced what aborts the signal.
    if (running) asFunction(running.who, async () => running.guard.timeOut(serviceError(key)));
  }

  /** Completes an operation on records. */
  answer(message: Extract<ToThread, { type: 'answer' | 'refusal' }>): void {
    this.#operations.answer(message);
  }

  #perform(call: number, guard: RunGuard): Perform {
    return async (read) => {
      guard.check();
      const request = read();
      return asService(() => this.#operations.request(call, request));
    };
  }
}

/**
 * Validates the input, runs the function and converts its result. All of this executes code of the function: its schema, getters, `then` and
 * `toJSON`.
 */
async function execute(
  loaded: LoadedFunction,
  { input, isForm, request, record, trigger, user }: GivenToCall,
  parts: Pick<FunctionContext, 'system' | 'signal'>,
): Promise<CallEnd> {
  const checked = await loaded.check(input, isForm);
  // The caller gets the reason; it is not logged.
  if ('refusal' in checked) return { kind: 'refused', message: checked.refusal };
  const result = await loaded.run({ input: checked.value as never, request, record, trigger, user, ...parts });
  return { kind: 'result', text: jsonOf(result) };
}

/** @throws if JSON cannot express it */
function jsonOf(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'null';
  } catch (error) {
    const { message } = failureOf(error).logged;
    throw new Error(`The function returned what JSON cannot say: ${message.split('\n', 1)[0]}`);
  }
}

/** Never throws. */
function failed(thrown: unknown): CallEnd {
  const key = passingFaultIn(thrown);
  if (key) return { kind: 'passing', key };
  const { forCaller, logged } = failureOf(thrown);
  return { kind: 'failed', message: forCaller.message, logged: sentError(logged) };
}
