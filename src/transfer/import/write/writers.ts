import { isRefusal, type ServiceError } from '../../../errors/fail.ts';
import { createRecord, type RecordContext, updateRecord } from '../../../records/index.ts';
import type { Task } from './tasks.ts';

/** What came of a task: the record, or why there is none. */
export type TaskOutcome = { readonly objectId: string } | { readonly error: ServiceError };

/** Carries tasks out at once, which the store does in their order. @throws what is no refusal */
export async function writeEach(context: RecordContext, className: string, tasks: readonly Task[]): Promise<TaskOutcome[]> {
  const done = await Promise.allSettled(tasks.map((task) => writeOne(context, className, task)));
  return done.map((one): TaskOutcome => {
    if (one.status === 'fulfilled') return { objectId: one.value };
    const error: unknown = one.reason;
    if (!isRefusal(error)) throw error;
    return { error };
  });
}

async function writeOne(context: RecordContext, className: string, task: Task): Promise<string> {
  if (task.kind === 'reject') throw task.error;
  if (task.kind === 'update') return (await updateRecord(context, className, task.objectId, task.body)).objectId;
  return (await createRecord(context, className, task.body, undefined, task.known)).objectId;
}
