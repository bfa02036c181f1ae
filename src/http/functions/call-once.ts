import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { credentialNameOf, type Principal } from '../../access/index.ts';
import { fail, isInDoubt, isRefusal, type ServiceError } from '../../errors/fail.ts';
import { renderError } from '../../errors/render.ts';
import type { CallOnce } from '../../functions/index.ts';
import { keepingAnswer, once, onceStepwise, requestKey, type SentKey } from '../../idempotency/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Progress, RecordContext } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import type { Credentials } from '../../systems/index.ts';
import { credentialOf, MAX_KEPT_CHARS } from '../endpoint/keyed.ts';

/** A call with a key. */
export interface KeyedCall {
  readonly store: Store;
  readonly sent: SentKey;
  readonly principal: Principal;
  readonly credentials: Credentials;
  readonly input: JsonObject;
  readonly request: Pick<FastifyRequest, 'method' | 'url'>;
  /** Called with the status of the answer, if it is that of an earlier call or not 200. */
  onAnswer(answer: { readonly status: number; readonly isReplay: boolean }): void;
}

/** Functions may be called without a key and without a session; all such callers are one. */
function callerOf({ principal, credentials: { sessionToken } }: KeyedCall): string {
  if (principal.kind !== 'anonymous' || typeof sessionToken !== 'string') return credentialNameOf(principal);
  return `session ${createHash('sha256').update(sessionToken).digest('base64url')}`;
}

/** Returns how a call is executed once for its key. Reference: requests.md#repeated-requests. */
export function callOnce(call: KeyedCall): CallOnce {
  const { store, sent, credentials, input, request, onAnswer } = call;
  const { method, url } = request;
  const keyOf = () =>
    requestKey(sent, { caller: callerOf(call), credential: credentialOf(credentials), method, url, body: input });
  return {
    async form(execute) {
      const key = await keyOf();
      const extend = { keepingAnswer: (context: RecordContext, answer: JsonValue) => keepingAnswer(context, key, answer) };
      const done = await once(
        store,
        key,
        () => execute((context) => ({ ...context, ...extend })),
        async ({ answer }) => answer ?? fail('resultTooLarge'),
      );
      onAnswer({ status: 200, isReplay: done.isReplay });
      return done.answer;
    },
    async custom(execute) {
      const key = await keyOf();
      const progress: Progress = { hasWritten: false };
      const { answer, isReplay } = await onceStepwise<CustomAnswer>(store, key, {
        isResumable: false,
        execute: () => customAnswer(execute, progress),
        keptOf: (kept) => ({ answer: kept.json.length <= MAX_KEPT_CHARS ? JSON.stringify(kept) : null }),
        hasWritten: (error) => progress.hasWritten || mayGoOn(error),
        replay: async (row) => answerFrom(row.answer ?? fail('resultTooLarge')),
      });
      onAnswer({ status: answer.status, isReplay });
      return answer.json;
    },
  };
}

interface CustomAnswer {
  readonly status: number;
  readonly json: string;
}

/** A function that has written before it failed is not executed again: its error is the answer. */
async function customAnswer(execute: (progress: Progress) => Promise<string>, progress: Progress): Promise<CustomAnswer> {
  try {
    return { status: 200, json: await execute(progress) };
  } catch (error) {
    if (!progress.hasWritten || !isRefusal(error) || mayGoOn(error)) throw error;
    return renderError(error);
  }
}

/** Whether a function may still write, or has written without its caller knowing. */
const mayGoOn = (error: unknown): boolean => isInDoubt(error) || (error as Partial<ServiceError>).key === 'functionTimeout';

function answerFrom(text: string): CustomAnswer {
  const kept = JSON.parse(text);
  const status = isJsonObject(kept) ? own(kept, 'status') : undefined;
  const json = isJsonObject(kept) ? own(kept, 'json') : undefined;
  return typeof status === 'number' && typeof json === 'string' ? { status, json } : fail('resultTooLarge');
}
