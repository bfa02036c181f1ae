/** What CONTRACT "Faults of the store" lets an answer be while a store does not work. */
import type { Answer } from '../support/service.ts';

export const UNAVAILABLE = '{"code":1,"error":"server error: the service is not available now"}';
export const IN_DOUBT = '{"code":1,"error":"server error: the outcome of this write is unknown","inDoubt":true}';

/** `done`; `refused`: nothing of it was done; `inDoubt`; `late`: a read that ran out of time; `wrong`: no answer that is allowed. */
export type Verdict = 'done' | 'refused' | 'inDoubt' | 'late' | 'wrong';

/** @param done the status of success */
export function judge({ status, text, headers, body }: Answer, kind: 'read' | 'write', done: number): Verdict {
  if (status === done) return 'done';
  if (status !== 503) return 'wrong';
  if (kind === 'read' && body?.code === 124) return 'late';
  if (!/^[1-9]\d{0,3}$/.test(headers.get('retry-after') ?? '')) return 'wrong';
  if (text === UNAVAILABLE) return 'refused';
  return kind === 'write' && text === IN_DOUBT ? 'inDoubt' : 'wrong';
}

/** The same of an item of a batch that was answered by item. */
export function judgeItem(item: { success?: unknown; error?: unknown } | undefined): Verdict {
  if (item?.success) return 'done';
  const text = JSON.stringify(item?.error);
  return text === UNAVAILABLE ? 'refused' : text === IN_DOUBT ? 'inDoubt' : 'wrong';
}
