import { isRefusal } from '../../errors/fail.ts';
import { logError } from '../log.ts';
import type { LaterWork } from '../queue/later.ts';
import { callOf } from './queued-call.ts';

/** Milliseconds before each attempt but the first (docs/decisions.md "Triggers": `server-side-code`). */
const pauses = [1_000, 5_000, 30_000, 120_000, 600_000];

/** Calls a function that was queued. The action's row in `_syslogTriggers` tells of the last attempt. */
export const callLater: LaterWork = async (system, { state, attempts, cause }, { functions }) => {
  const { functionName, trigger, record } = callOf(state);
  try {
    await functions.callForRecord(system, functionName, record, { ...trigger, attempt: attempts + 1 }, cause);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { message } = error;
    const pause = pauses[attempts];
    const outcome = pause === undefined ? ({ kind: 'failed' } as const) : ({ kind: 'again', pause } as const);
    return { ...outcome, steps: (schema) => logError(schema, trigger.runId, message) };
  }
  return { kind: 'done', ...(attempts > 0 && { steps: (schema) => logError(schema, trigger.runId, null) }) };
};
