import { serviceError } from '../../../errors/fail.ts';
import { exclusively } from '../../../records/index.ts';
import type { ToolCall } from '../../definition/tool.ts';

/**
 * Does works of a system one after the other, those of other processes too: works that read, decide and then write, and would else decide by
 * what the other is about to change.
 * @param what they are about: works of different things do not wait for each other
 * @param work writes by the call that it is handed, and may be done again from its beginning
 * @throws timeout (124) where the call was given up while it waited
 */
export const inTurn = <T>(call: ToolCall, what: string, work: (call: ToolCall) => Promise<T>): Promise<T> =>
  exclusively(call.context, what, async (context) => {
    if (call.signal.aborted) throw serviceError('timeout');
    return work({ ...call, context });
  });
