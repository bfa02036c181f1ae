import { isRefusal } from '../../errors/fail.ts';
import type { FunctionTrigger } from '../../functions/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { Mutation } from '../../storage/port.ts';
import { type ActionRun, commitDone, type Perform } from '../model/action.ts';
import type { TriggeringRecord } from '../model/model.ts';
import { logError } from '../model/trigger-log.ts';
import { queueJob } from '../queue/index.ts';
import { type RetryableWork, UnreadableJob } from '../queue/retryable-jobs.ts';

/**
 * Calls a custom function for the record, or queues the call.
 * Reference: triggers.md#server-side-code.
 * @throws userFunctionNotFound, functionFailed, functionTimeout, internal, if the call is not queued
 */
export const serverSideCode: Perform<'server-side-code'> = async (run, { functions }) => {
  const { system, trigger, action, record, event, runId, attempt, cause } = run;
  const { functionName, useQueue } = action.data;
  const called = { id: trigger.id, name: trigger.name, actionId: action.id, event, runId };
  if (useQueue) {
    await queue(run, { functionName, trigger: called, record: record.fields });
    return;
  }
  // The caller has recorded the start of the call, and records its end.
  await functions.callForRecord(system, functionName, record.fields, { ...called, attempt }, cause);
};

/** Queues the call and completes the action in one commit. */
async function queue(
  { system, record, trigger, event, cause, done }: ActionRun<'server-side-code'>,
  call: QueuedCall,
): Promise<void> {
  const { store } = system;
  const at = Date.now();
  const { className, objectId } = record;
  const job = {
    kind: 'code',
    state: callState(call),
    triggerId: trigger.id,
    event,
    className,
    objectId,
    cause,
    owner: store.cluster.processId,
    at,
  } as const;
  await commitDone({ system, done: (schema): readonly Mutation[] => [...queueJob(schema, job), ...done(schema)] });
}

/** A call of a function that waits in the queue. */
export interface QueuedCall {
  readonly functionName: string;
  readonly trigger: Omit<FunctionTrigger, 'attempt'>;
  readonly record: TriggeringRecord['fields'];
}

/** Returns the `state` of the job for a queued call. */
export function callState({ functionName, trigger, record }: QueuedCall): JsonObject {
  return { functionName, trigger: { ...trigger }, record };
}

/** Returns the call in the `state` of a job, as `callState` wrote it. @throws UnreadableJob */
export function callOf(state: JsonObject): QueuedCall {
  const { functionName, trigger, record } = state;
  if (typeof functionName !== 'string' || !isJsonObject(trigger) || !isJsonObject(record)) throw new UnreadableJob();
  return state as unknown as QueuedCall;
}

/** Delay before each retry. Reference: triggers.md#server-side-code. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000, 600_000];

/** Makes one attempt at a queued call. The action's row in `_syslogTriggers` shows the result of the last attempt. */
export const attemptCall: RetryableWork = async (system, { state, attempts, cause }, { functions }) => {
  const { functionName, trigger, record } = callOf(state);
  try {
    await functions.callForRecord(system, functionName, record, { ...trigger, attempt: attempts + 1 }, cause);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { message } = error;
    const delayMs = RETRY_DELAYS_MS[attempts];
    const outcome = delayMs === undefined ? ({ kind: 'failed' } as const) : ({ kind: 'again', delayMs } as const);
    return { ...outcome, steps: (schema) => logError(schema, trigger.runId, message) };
  }
  return { kind: 'done', ...(attempts > 0 && { steps: (schema) => logError(schema, trigger.runId, null) }) };
};
