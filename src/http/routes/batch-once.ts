import { onceStepwise, type RequestKey } from '../../idempotency/index.ts';
import type { ApiReply, ApiRequest } from '../endpoint/endpoint.ts';
import { keptReply, MAX_KEPT_CHARS, markedReply, unsealed } from '../endpoint/keyed.ts';

/** Maximum characters of a batch's answer that is kept as a whole; a longer one is made again from what its items have kept. */
export const MAX_KEPT_BATCH_CHARS = 64 * 1024;

/** Answers of items, as JSON text, by their position. */
export type ItemAnswers = ReadonlyMap<number, string>;

/** A batch whose items were executed. */
export interface ExecutedBatch {
  readonly reply: ApiReply;
  /** Answers of the items that have kept no key: those that were refused, and those that write no record. Without those that hold a secret. */
  readonly keyless: ItemAnswers;
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
  execute: (key: RequestKey, known: ItemAnswers) => Promise<ExecutedBatch>,
): Promise<ApiReply> {
  const done = await onceStepwise<ExecutedBatch>(context.store, key, {
    isResumable: true,
    execute: (isRepeated) => execute({ ...key, isRepeated }, none),
    keptOf: (executed) => (executed.isFinal ? keptOf(key, executed) : null),
    // A batch fails as a whole only if nothing of it was done.
    hasWritten: () => false,
    async replay({ answer, sealed }) {
      const replied = (reply: Omit<ApiReply, 'status'>) => ({ reply: { status: 200, ...reply }, keyless: none, isFinal: true });
      if (sealed !== undefined) return replied({ json: unsealed(key, sealed), headers: { 'cache-control': 'no-store' } });
      if (answer !== undefined && !answer.startsWith(KEYLESS)) return replied({ json: answer });
      return execute({ ...key, isRepeated: true }, answer === undefined ? none : readKeyless(answer));
    },
  });
  return markedReply({ answer: done.answer.reply, isReplay: done.isReplay });
}

const none: ItemAnswers = new Map();

/** Begins the text that is kept instead of an answer, which is an array. */
const KEYLESS = '{"keyless":';

/** Returns what is kept of the answer: all of it, or what its items have not kept. */
function keptOf(key: RequestKey, { reply, keyless }: ExecutedBatch): ReturnType<typeof keptReply> {
  const whole = keptReply(key, reply, MAX_KEPT_BATCH_CHARS);
  if (whole.answer !== null || whole.sealed !== undefined) return whole;
  // Items are often refused for one reason.
  const places = Map.groupBy(keyless.keys(), (at) => keyless.get(at));
  const answer = `${KEYLESS}${JSON.stringify([...places])}}`;
  return answer.length <= MAX_KEPT_CHARS ? { answer } : { answer: null };
}

function readKeyless(answer: string): ItemAnswers {
  const { keyless } = JSON.parse(answer) as { keyless: [text: string, places: number[]][] };
  return new Map(keyless.flatMap(([text, places]) => places.map((at) => [at, text] as const)));
}
