import type { FunctionTrigger } from '../../functions/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { TriggeringRecord } from '../model.ts';
import { UnreadableJob } from '../queue/later.ts';

/** A call of a function that waits in the queue. */
export interface QueuedCall {
  readonly functionName: string;
  readonly trigger: Omit<FunctionTrigger, 'attempt'>;
  readonly record: TriggeringRecord['fields'];
}

/** As the `state` of its job has it. */
export function stateOf({ functionName, trigger, record }: QueuedCall): JsonObject {
  return { functionName, trigger: { ...trigger }, record };
}

/** The call of a job that `stateOf` was written for. @throws UnreadableJob */
export function callOf(state: JsonObject): QueuedCall {
  const { functionName, trigger, record } = state;
  if (typeof functionName !== 'string' || !isJsonObject(trigger) || !isJsonObject(record)) throw new UnreadableJob();
  return state as unknown as QueuedCall;
}
