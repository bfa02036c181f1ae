import { onceStepwise, type RequestKey } from '../../idempotency/index.ts';
import type { ApiReply, ApiRequest } from '../endpoint/endpoint.ts';
import { keptReply, markedReply, unsealed } from '../endpoint/keyed.ts';

/** Maximum characters of a batch's answer that is kept as a whole; a longer one is made again from what its items have kept. */
export const MAX_KEPT_BATCH_CHARS = 64 * 1024;

/** A batch whose items were executed. */
export interface ExecutedBatch {
  readonly reply: ApiReply;
  /** Whether the outcome of all items is known: no passing fault prevented one. */
  readonly isFinal: boolean;
}

/**
 * Executes a batch once for its key. Each item that writes a record keeps a key of its own in its commit, so an interrupted batch is resumed: what was
 * done is answered, the rest is executed. Reference: requests.md#repeated-requests.
 * @throws what `onceStepwise` and `execute` throw
 */
export async function answerBatchOnce(
  { context }: ApiRequest,
  key: RequestKey,
  execute: (key: RequestKey) => Promise<ExecutedBatch>,
): Promise<ApiReply> {
  const done = await onceStepwise<ExecutedBatch>(context.store, key, {
    isResumable: true,
    execute: (isRepeated) => execute({ ...key, isRepeated }),
    keptOf: ({ reply, isFinal }) => (isFinal ? keptReply(key, reply, MAX_KEPT_BATCH_CHARS) : null),
    // A batch fails as a whole only if nothing of it was done.
    hasWritten: () => false,
    async replay({ answer, sealed }) {
      if (answer !== undefined) return { reply: { status: 200, json: answer }, isFinal: true };
      if (sealed === undefined) return execute({ ...key, isRepeated: true });
      const reply = { status: 200, json: unsealed(key, sealed), headers: { 'cache-control': 'no-store' } };
      return { reply, isFinal: true };
    },
  });
  return markedReply({ answer: done.answer.reply, isReplay: done.isReplay });
}
