import { fail } from '../../errors/fail.ts';
import { Contention } from '../../kernel/contention.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { ConditionFailed, type KeyVersion, type Store } from '../../storage/port.ts';
import type { RecordContext } from '../context/context.ts';

/**
 * Runs work that reads, decides and writes under conditions; restarts it if a condition no longer held in the commit, because another process was
 * faster.
 * @param work must not write before the conditional write, unless that may be repeated
 * @throws unavailable if other writers were faster for seconds; what the work throws
 */
export async function retryWhenConditionFailed<T>(work: () => Promise<T>): Promise<T> {
  const contention = new Contention();
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (contention.isOver) return fail('unavailable');
      await contention.next();
    }
}

const mutexOf = memoByObject<Store, KeyedMutex>(() => new KeyedMutex());

/**
 * Runs work of a system serially with all other work under the same key, in any process: for read-decide-write sequences. Within a process a
 * mutex orders the work; between processes the slower one fails in its commit and restarts (optimistic locking).
 * @param work writes with the context passed to it and may be restarted (`retryWhenConditionFailed`). It may take further keys with that context; then all
 * callers must take them in the same order
 * @throws unavailable; what the work throws
 */
export function exclusively<T>(context: RecordContext, key: string, work: (context: RecordContext) => Promise<T>): Promise<T> {
  const once = async () => work(holding(context, await context.store.keyVersions([key])));
  // If work under an outer key is overtaken, the outer work restarts.
  return mutexOf(context.store).runExclusive(key, () => (context.held ? once() : retryWhenConditionFailed(once)));
}

/** Returns the context of writes under further keys, with the versions that were read. */
export function holding(context: RecordContext, read: readonly KeyVersion[]): RecordContext {
  if (read.length === 0) return context;
  const { writer = newObjectId(), versions: known = [] } = context.held ?? {};
  // The version read first counts, because the work started from it.
  const versions = [...known, ...read.filter(({ slot }) => !known.some((one) => one.slot === slot))];
  return { ...context, held: { writer, versions } };
}
