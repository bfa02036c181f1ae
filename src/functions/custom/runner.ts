import { AsyncLocalStorage } from 'node:async_hooks';
import { master, type Principal } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import { type Logger, tracerInUse } from '../../observe/index.ts';
import { type Cause, functionReferer, type Progress, type RecordContext, type WriteHooks } from '../../records/index.ts';
import type { FunctionSystem } from './api/model.ts';
import { executeOperation, isWrite } from './operations.ts';
import type { FoundFunction, FunctionThreads, LostCall, OutdatedCall, ThreadCall } from './pool/index.ts';
import { type CallEnd, type GivenToCall, type GivenUp, type OperationRequest, receivedError } from './thread/protocol.ts';
import { RunGuard } from './thread/run-guard.ts';

/** The input of a run. */
export interface RunInput extends Omit<GivenToCall, 'appId' | 'systemName'> {
  /** The caller whose rights apply to files that the function did not read itself. */
  readonly attacher: Principal;
  /** Recorded as the cause of its writes; omitted if a request calls. */
  readonly cause?: Cause;
  /** Set after each of its commits. */
  readonly progress?: Progress;
}

export interface RunnerParts {
  readonly threads: FunctionThreads;
  /** Milliseconds. */
  readonly timeLimit: number;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Aborted when the service shuts down and no longer waits for functions. */
  readonly shutdown: AbortSignal;
}

/** Milliseconds, at least, for which a call waits for a thread: loops may occupy those of its system up to their time limit. */
const MIN_WAIT_MS = 30_000;

/**
 * Runs a custom function on a thread. Errors are logged with the system and the function, never with the input.
 * Reference: functions.md#custom-functions.
 * @returns its result as JSON text; `null` for `undefined`. `undefined` itself if the function has to be found again, because its files have changed
 * @throws functionFailed (400) if it threw, its input was rejected, or it ended its thread; functionTimeout (503); unavailable at shutdown, if another
 *   call ended its thread, if no thread is free in time, or if the store was unavailable and the function did not handle that; outcomeUnknown instead
 *   of unavailable if it had written before, or the outcome of a write is unknown
 */
export async function runFunction(
  { threads, timeLimit, hooks, log, shutdown }: RunnerParts,
  system: FunctionSystem,
  found: FoundFunction,
  { attacher, cause, progress, ...given }: RunInput,
): Promise<string | undefined> {
  if (shutdown.aborted) fail('unavailable');
  const who = { system: system.appId, function: found.name };
  const guard = new RunGuard();
  const context: RecordContext = {
    appId: system.appId,
    store: system.store,
    principal: master,
    attacher,
    hooks,
    referer: functionReferer(found.name),
    ...(cause && { cause }),
    ...(progress && { progress }),
  };
  const { promise: result, resolve, reject } = Promise.withResolvers<string | undefined>();
  const settle = (end: CallEnd | LostCall | OutdatedCall): string | undefined => {
    switch (end.kind) {
      case 'result':
        return end.text;
      case 'outdated':
        return undefined;
      case 'refused':
        return fail('functionFailed', end.message);
      case 'passing':
        return fail(guard.hasWritten ? 'outcomeUnknown' : end.key);
      case 'failed':
        log.warn({ err: receivedError(end.logged), ...who }, 'a function failed');
        return fail('functionFailed', end.message);
      case 'lost':
        if (end.message === null) log.warn(who, 'a function was ended together with its thread, because of another call');
        else log.warn({ err: new Error(end.message), ...who }, 'a function failed');
        if (end.message === null || guard.writing > 0) return fail(guard.mayHaveWritten ? 'outcomeUnknown' : 'unavailable');
        return fail('functionFailed', end.message);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  let giveUp = (_key: GivenUp): void => threads.withdraw(call);
  let hasBegun = () => true;
  const outOfTime = () => {
    if (hasBegun()) abort('functionTimeout');
    else timer = setTimeout(outOfTime, timeLimit);
  };
  const abort = (key: GivenUp) => {
    guard.timeOut(serviceError(key));
    reject(serviceError(key));
    giveUp(key);
  };
  // Operations belong to the trace and the request of the call, whatever message of the thread begins them.
  const inContext = AsyncLocalStorage.snapshot();
  const call: ThreadCall = {
    system: system.store,
    function: found,
    given: JSON.stringify({ ...given, appId: system.appId, systemName: system.name } satisfies GivenToCall),
    trace: tracerInUse()?.outgoing(),
    isGivenUp: () => guard.isTimedOut,
    passed(run) {
      ({ giveUp, hasBegun } = run);
      clearTimeout(timer);
      timer = setTimeout(outOfTime, timeLimit);
    },
    operation: (request) => inContext(() => guarded(guard, request, () => executeOperation(context, request), who, log)),
    ended(end) {
      // It may continue after its time limit; its end then no longer concerns the caller.
      if (guard.isTimedOut) return;
      try {
        resolve(settle(end));
      } catch (error) {
        reject(error);
      }
      guard.end();
    },
  };
  timer = setTimeout(abort, Math.max(timeLimit, MIN_WAIT_MS), 'unavailable');
  const onShutdown = () => abort(guard.mayHaveWritten ? 'outcomeUnknown' : 'unavailable');
  shutdown.addEventListener('abort', onShutdown, { once: true });
  threads.run(call);
  try {
    return await result;
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'functionTimeout')
      log.warn(who, 'a function took too long and was given up');
    throw error;
  } finally {
    clearTimeout(timer);
    shutdown.removeEventListener('abort', onShutdown);
    guard.end();
  }
}

/** Guards access to records. Errors of the catalogue pass to the function; faults are logged and hidden from it. */
async function guarded(
  guard: RunGuard,
  request: OperationRequest,
  execute: () => Promise<string | undefined>,
  who: { readonly system: string; readonly function: string },
  log: Logger,
): Promise<string | undefined> {
  guard.check();
  const writes = isWrite(request);
  if (writes) guard.writing++;
  try {
    const done = await execute();
    guard.hasWritten ||= writes;
    if (guard.isTimedOut) fail('functionTimeout');
    return done;
  } catch (error) {
    if (!(error instanceof ServiceError)) log.error({ err: error, ...who }, 'the records of a system failed under a function');
    throw error;
  } finally {
    if (writes) guard.writing--;
  }
}
