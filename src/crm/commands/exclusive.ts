import { serviceError } from '../../errors/fail.ts';
import { exclusively } from '../../records/index.ts';
import type { CrmContext } from '../context.ts';

/**
 * Does works of a system one after the other, those of other processes too: works that read, decide and then write, and would else decide by
 * what the other is about to change.
 * @param what they are about: works of different things do not wait for each other
 * @param work writes by the context that it is handed, and may be done again from its beginning
 * @throws timeout (124) where nobody waits for it any more while it waited
 */
export const inTurn = <C extends CrmContext, T>(context: C, what: string, work: (held: C) => Promise<T>): Promise<T> =>
  exclusively(context, what, async (held) => {
    if (context.signal.aborted) throw serviceError('timeout');
    return work({ ...context, ...held });
  });
