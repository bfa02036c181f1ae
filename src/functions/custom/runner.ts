import { master, type Principal } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Logger } from '../../observe/index.ts';
import { type Cause, functionReferer, type RecordContext, type WriteHooks } from '../../records/index.ts';
import type { FunctionContext } from './definition.ts';
import { failureOf, passingFaultIn, ServiceFault } from './failure.ts';
import type { LoadedFunction } from './loader.ts';
import type { FunctionRequest, FunctionSystem, FunctionTrigger, FunctionUser } from './model.ts';
import { Gate } from './run-guard.ts';
import type { FunctionRecord } from './system.ts';
import { type Guarded, OwnFiles, systemRecords } from './system-records.ts';
import { asFunction, asService, type Running } from './unhandled-errors.ts';

/** What a run is given beside the system. */
export interface RunInput {
  readonly input: JsonObject;
  /** Whether the values of `input` are texts of a form or a query. */
  readonly isForm: boolean;
  /** `null` where a trigger calls. */
  readonly request: FunctionRequest | null;
  /** `null` where a request calls. */
  readonly record: FunctionRecord | null;
  readonly trigger: FunctionTrigger | null;
  readonly user: FunctionUser | null;
  /** Whose rights to files count for those that the function was not given itself. */
  readonly attacher: Principal;
  /** Of what it writes; left out where a request calls. */
  readonly cause?: Cause;
}

export interface RunnerParts {
  /** Milliseconds. */
  readonly timeLimit: number;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Aborted when the service ends and waits for no function any more. */
  readonly over: AbortSignal;
}

/**
 * Runs a function (CONTRACT "Operator's functions"). What goes wrong is logged, with the system and the function, never with the input.
 * @returns what it returned, as JSON has it; null for `undefined`
 * @throws functionFailed (400) where it threw or its input is refused, functionTimeout (503), unavailable where the service ends, or where the
 *   store was away and the function did not see to it; outcomeUnknown where it had written before either, or where that is so of the write
 */
export async function runFunction(
  { timeLimit, hooks, log, over }: RunnerParts,
  system: FunctionSystem,
  loaded: LoadedFunction,
  given: RunInput,
): Promise<JsonValue> {
  if (over.aborted) fail('unavailable');
  const who = { system: system.appId, function: loaded.name };
  const gate = new Gate();
  const context: RecordContext = {
    appId: system.appId,
    store: system.store,
    principal: master,
    attacher: given.attacher,
    hooks,
    referer: functionReferer(loaded.name),
    ...(given.cause && { cause: given.cause }),
  };
  const files = new OwnFiles();
  if (given.record) files.give(given.record as JsonObject);
  const records = systemRecords(system, context, files, guardedBy(gate, who, log));
  const timeIsUp = Promise.withResolvers<never>();
  const giveUp = (why: 'functionTimeout' | 'unavailable' | 'outcomeUnknown') => {
    timeIsUp.reject(serviceError(why));
    // Listeners of the signal are code of the function's, and the reason is its own to change.
    asFunction(who, async () => gate.giveUp(serviceError(why)));
  };
  const timer = setTimeout(giveUp, timeLimit, 'functionTimeout');
  const atEnd = () => giveUp(gate.mayHaveWritten ? 'outcomeUnknown' : 'unavailable');
  over.addEventListener('abort', atEnd, { once: true });
  const failed = (thrown: unknown): never => {
    const passing = passingFaultIn(thrown);
    if (passing) fail(gate.hasWritten ? 'outcomeUnknown' : passing);
    const { shown, logged } = failureOf(thrown);
    if (!gate.isGivenUp) log.warn({ err: logged, ...who }, 'a function failed');
    throw shown;
  };
  const work = asFunction(who, () => carryOut(loaded, given, { system: records, signal: gate.signal }, failed));
  try {
    return await Promise.race([work, timeIsUp.promise]);
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'functionTimeout')
      log.warn(who, 'a function took too long and was given up');
    throw error;
  } finally {
    clearTimeout(timer);
    over.removeEventListener('abort', atEnd);
    gate.end();
    // It may go on after its time; it was answered for.
    work.catch(() => {});
  }
}

/**
 * All of it is code of the function's: its schema, its getters, its `then` and `toJSON`.
 * @param failed tells of what was thrown, and throws what the caller sees
 * @throws what `failed` throws, and nothing else
 */
async function carryOut(
  loaded: LoadedFunction,
  { input, isForm, request, record, trigger, user }: RunInput,
  parts: Pick<FunctionContext, 'system' | 'signal'>,
  failed: (thrown: unknown) => never,
): Promise<JsonValue> {
  const checked = await loaded.check(input, isForm).catch(failed);
  // It is the caller's to hear, and nothing for the log.
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

/** Errors of the service pass to the function; faults are logged, and tell it nothing. */
function guardedBy(gate: Gate, who: Running, log: Logger): Guarded {
  return async (read, work, isWrite = false) => {
    gate.check();
    const given = read();
    if (isWrite) gate.writing++;
    try {
      const done = await asService(() => work(given));
      gate.hasWritten ||= isWrite;
      if (gate.isGivenUp) fail('functionTimeout');
      return done;
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      log.error({ err: error, ...who }, 'the records of a system failed under a function');
      throw new ServiceFault();
    } finally {
      if (isWrite) gate.writing--;
    }
  };
}
