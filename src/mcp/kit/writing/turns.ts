import { serviceError } from '../../../errors/fail.ts';
import { TurnsOf } from '../../../kernel/turns.ts';
import type { ToolCall } from '../../definition/tool.ts';

const turns = new TurnsOf();

/**
 * Does works of a system one after the other in this process: those that read, decide and then write, and would else decide by what the
 * other is about to change.
 * @param what they are about: works of different things do not wait for each other
 * @throws timeout (124) where the call was given up while it waited
 */
export const inTurn = <T>({ context, signal }: ToolCall, what: string, work: () => Promise<T>): Promise<T> =>
  turns.take(context.store, what, async () => {
    if (signal.aborted) throw serviceError('timeout');
    return work();
  });
