/** The answers that are allowed while a store does not work. Reference: faults.md#passing-faults, faults.md#writes-in-doubt. */
import type { Answer } from '../support/service.ts';

export const UNAVAILABLE = '{"code":1,"error":"server error: the service is not available now"}';
export const IN_DOUBT = '{"code":1,"error":"server error: the outcome of this write is unknown","inDoubt":true}';

/** `refused`: nothing was done; `late`: a read that reached its time limit; `wrong`: not an allowed answer. */
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

/** As `judge`, for an item of a batch. */
export function judgeItem(item: { success?: unknown; error?: unknown } | undefined): Verdict {
  if (item?.success) return 'done';
  const text = JSON.stringify(item?.error);
  return text === UNAVAILABLE ? 'refused' : text === IN_DOUBT ? 'inDoubt' : 'wrong';
}
