import { isRefusal, type ServiceError } from '../../../errors/fail.ts';
import { createRecord, type RecordContext, updateRecord } from '../../../records/index.ts';
import type { Task } from './tasks.ts';

/** Result of a task: the record, or the reason why it was rejected. */
export type TaskOutcome = { readonly objectId: string } | { readonly error: ServiceError };

/** Executes tasks concurrently; the store keeps their order. @throws errors that do not reject a row */
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
