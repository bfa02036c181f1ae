import type { Mutation } from '../../storage/port.ts';
import { queueJob } from '../queue/index.ts';
import type { ActionRun, Perform } from './action.ts';
import { commitDone } from './action.ts';
import { type QueuedCall, stateOf } from './queued-call.ts';

/**
 * Calls a function of the operator for the record (CONTRACT "Triggers": `server-side-code`), or queues the call.
 * @throws userFunctionNotFound, functionFailed, functionTimeout, internal of a call that is not queued
 */
export const serverSideCode: Perform<'server-side-code'> = async (run, { functions }) => {
  const { system, trigger, action, record, event, runId, attempt, cause } = run;
  const { functionName, useQueue } = action.data;
  const called = { id: trigger.id, name: trigger.name, actionId: action.id, event, runId };
  if (useQueue) {
    await queue(run, { functionName, trigger: called, record: record.fields });
    return;
  }
  // The call is noted first; the caller of this notes that it is done.
  await functions.callForRecord(system, functionName, record.fields, { ...called, attempt }, cause);
};

/** The call is queued, and the action done, in one commit. */
async function queue(
  { system, record, trigger, event, cause, done }: ActionRun<'server-side-code'>,
  call: QueuedCall,
): Promise<void> {
  const { store } = system;
  const at = Date.now();
  const { className, objectId } = record;
  const job = {
    kind: 'code',
    state: stateOf(call),
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
