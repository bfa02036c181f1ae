import { fail } from '../../errors/fail.ts';
import { Contention } from '../../kernel/contention.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { type KeyVersion, Overtaken, type Store } from '../../storage/port.ts';
import type { RecordContext } from '../context/context.ts';

/**
 * Does work that reads, decides and writes under conditions; from the beginning where a condition no longer held in the commit, since another
 * process was faster.
 * @param work writes nothing before the write that a condition may refuse, or may do so again
 * @throws unavailable where others are faster for seconds; what the work throws
 */
export async function decideAnew<T>(work: () => Promise<T>): Promise<T> {
  const contention = new Contention();
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      if (contention.isOver) return fail('unavailable');
      await contention.next();
    }
}

const mutexOf = memoByObject<Store, KeyedMutex>(() => new KeyedMutex());

/**
 * Does work of a system one after the other with all other work under the same key, whatever process it is in: what reads, decides and then
 * writes, and would else decide by what the other is about to change. Within a process works wait for each other; of two processes one is
 * overtaken in its commit, and does its work anew.
 * @param work writes by the context that it is handed, and may be done again from its beginning (`decideAnew`). It may do further work under
 *   another key by that context; then keys are taken in one order wherever several are
 * @throws unavailable; what the work throws
 */
export function exclusively<T>(context: RecordContext, key: string, work: (context: RecordContext) => Promise<T>): Promise<T> {
  const once = async () => work(holding(context, await context.store.keyVersions([key])));
  // Who is overtaken under an outer key begins with the outer work.
  return mutexOf(context.store).runExclusive(key, () => (context.held ? once() : decideAnew(once)));
}

/** The context of writes under further keys, as they were read. */
export function holding(context: RecordContext, read: readonly KeyVersion[]): RecordContext {
  if (read.length === 0) return context;
  const { writer = newObjectId(), versions: known = [] } = context.held ?? {};
  // What was read first counts: the work has begun by then.
  const versions = [...known, ...read.filter(({ slot }) => !known.some((one) => one.slot === slot))];
  return { ...context, held: { writer, versions } };
}
