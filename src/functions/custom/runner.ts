import { master, type Principal } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Logger } from '../../observe/index.ts';
import { type Cause, functionReferer, type Progress, type RecordContext, type WriteHooks } from '../../records/index.ts';
import type { FunctionContext } from './definition.ts';
import { failureOf, passingFaultIn, ServiceFault } from './failure.ts';
import type { LoadedFunction } from './loader.ts';
import type { FunctionRequest, FunctionSystem, FunctionTrigger, FunctionUser } from './model.ts';
import { RunGuard } from './run-guard.ts';
import type { FunctionRecord } from './system.ts';
import { type Guarded, OwnFiles, systemRecords } from './system-records.ts';
import { asFunction, asService, type RunningFunction } from './unhandled-errors.ts';

/** The input of a run. */
export interface RunInput {
  readonly input: JsonObject;
  /** Whether the values of `input` are texts of a form or a query. */
  readonly isForm: boolean;
  /** `null` if a trigger calls. */
  readonly request: FunctionRequest | null;
  /** `null` if a request calls. */
  readonly record: FunctionRecord | null;
  readonly trigger: FunctionTrigger | null;
  readonly user: FunctionUser | null;
  /** The caller whose rights apply to files that the function did not read itself. */
  readonly attacher: Principal;
  /** Recorded as the cause of its writes; omitted if a request calls. */
  readonly cause?: Cause;
  /** Set after each of its commits. */
  readonly progress?: Progress;
}

export interface RunnerParts {
  /** Milliseconds. */
  readonly timeLimit: number;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Aborted when the service shuts down and no longer waits for functions. */
  readonly shutdown: AbortSignal;
}

/**
 * Runs a custom function. Errors are logged with the system and the function, never with the input.
 * Reference: functions.md#custom-functions.
 * @returns its result as JSON; null for `undefined`
 * @throws functionFailed (400) if it threw or its input was rejected; functionTimeout (503); unavailable at shutdown, or if the store was unavailable
 *   and the function did not handle that; outcomeUnknown instead of unavailable if it had written before, or the outcome of a write is unknown
 */
export async function runFunction(
  { timeLimit, hooks, log, shutdown }: RunnerParts,
  system: FunctionSystem,
  loaded: LoadedFunction,
  given: RunInput,
): Promise<JsonValue> {
  if (shutdown.aborted) fail('unavailable');
  const who = { system: system.appId, function: loaded.name };
  const guard = new RunGuard();
  const context: RecordContext = {
    appId: system.appId,
    store: system.store,
    principal: master,
    attacher: given.attacher,
    hooks,
    referer: functionReferer(loaded.name),
    ...(given.cause && { cause: given.cause }),
    ...(given.progress && { progress: given.progress }),
  };
  const files = new OwnFiles();
  if (given.record) files.give(given.record as JsonObject);
  const records = systemRecords(system, context, files, recordGuard(guard, who, log));
  const aborted = Promise.withResolvers<never>();
  const abort = (why: 'functionTimeout' | 'unavailable' | 'outcomeUnknown') => {
    aborted.reject(serviceError(why));
    // Listeners of the signal are the function's code and may modify the reason, so they get an error object of their own.
    asFunction(who, async () => guard.timeOut(serviceError(why)));
  };
  const timer = setTimeout(abort, timeLimit, 'functionTimeout');
  const onShutdown = () => abort(guard.mayHaveWritten ? 'outcomeUnknown' : 'unavailable');
  shutdown.addEventListener('abort', onShutdown, { once: true });
  const failed = (thrown: unknown): never => {
    const passing = passingFaultIn(thrown);
    if (passing) fail(guard.hasWritten ? 'outcomeUnknown' : passing);
    const { forCaller, logged } = failureOf(thrown);
    if (!guard.isTimedOut) log.warn({ err: logged, ...who }, 'a function failed');
    throw forCaller;
  };
  const work = asFunction(who, () => execute(loaded, given, { system: records, signal: guard.signal }, failed));
  try {
    return await Promise.race([work, aborted.promise]);
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'functionTimeout')
      log.warn(who, 'a function took too long and was given up');
    throw error;
  } finally {
    clearTimeout(timer);
    shutdown.removeEventListener('abort', onShutdown);
    guard.end();
    // It may continue after its time limit; errors then no longer concern the caller.
    work.catch(() => {});
  }
}

/**
 * Validates the input, runs the function and converts its result. All of this executes code of the function: its schema, getters, `then` and
 * `toJSON`.
 * @param failed logs what was thrown, and throws the error for the caller
 * @throws errors of `failed` only
 */
async function execute(
  loaded: LoadedFunction,
  { input, isForm, request, record, trigger, user }: RunInput,
  parts: Pick<FunctionContext, 'system' | 'signal'>,
  failed: (thrown: unknown) => never,
): Promise<JsonValue> {
  const checked = await loaded.check(input, isForm).catch(failed);
  // The caller gets the reason; it is not logged.
  if ('refusal' in checked) return fail('functionFailed', checked.refusal);
  let result: unknown;
  try {
    result = await loaded.run({ input: checked.value as never, request, record, trigger, user, ...parts });
  } catch (error) {
    return failed(error);
  }
  return jsonOf(result, failed);
}

function jsonOf(result: unknown, failed: (thrown: unknown) => never): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch (error) {
    const { message } = failureOf(error).logged;
    return failed(new Error(`The function returned what JSON cannot say: ${message.split('\n', 1)[0]}`));
  }
  return text === undefined ? null : JSON.parse(text);
}

/** Guards access to records. Errors of the catalogue pass to the function; faults are logged and hidden from it. */
function recordGuard(guard: RunGuard, who: RunningFunction, log: Logger): Guarded {
  return async (read, work, isWrite = false) => {
    guard.check();
    const given = read();
    if (isWrite) guard.writing++;
    try {
      const done = await asService(() => work(given));
      guard.hasWritten ||= isWrite;
      if (guard.isTimedOut) fail('functionTimeout');
      return done;
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      log.error({ err: error, ...who }, 'the records of a system failed under a function');
      throw new ServiceFault();
    } finally {
      if (isWrite) guard.writing--;
    }
  };
}
