import { serviceError } from '../../errors/fail.ts';
import { exclusively } from '../../records/index.ts';
import type { CrmContext } from '../context.ts';

/**
 * Serialises tasks of a system that share a key, across processes too. For tasks that read, decide and then write, and would otherwise decide by data
 * that a concurrent task is about to change.
 * @param what key; tasks with different keys do not wait for each other
 * @param work must write through the context that it receives; may be re-run from the start
 * @throws timeout (124) if the caller stopped waiting meanwhile
 */
export const runExclusive = <C extends CrmContext, T>(context: C, what: string, work: (held: C) => Promise<T>): Promise<T> =>
  exclusively(context, what, async (held) => {
    if (context.signal.aborted) throw serviceError('timeout');
    return work({ ...context, ...held });
  });
