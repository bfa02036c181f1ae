import { setTimeout as wait } from 'node:timers/promises';
import type { Finding } from '../cli/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';

/** Time limit of a check of something outside the process, in milliseconds. */
export const CHECK_TIMEOUT_MS = 15_000;

/**
 * Runs a check under its time limit.
 * @param work returns the detail of a success; throws the reason of a failure, or returns it as an Error
 */
export async function findingOf(check: string, work: (signal: AbortSignal) => Promise<string | Error>): Promise<Finding> {
  const abort = new AbortController();
  const late = wait(CHECK_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    const error = new OperatorError(`no answer within ${CHECK_TIMEOUT_MS / 1000} s`);
    abort.abort(error);
    throw error;
  });
  try {
    const found = await Promise.race([work(abort.signal), late]);
    if (found instanceof Error) throw found;
    return { check, outcome: 'ok', detail: found };
  } catch (error) {
    return { check, outcome: 'failed', detail: reasonOf(error) };
  } finally {
    late.catch(() => {});
  }
}

/** Returns an error as one line. */
export function reasonOf(error: unknown): string {
  const { message, code, cause } = error as Error & { readonly code?: string };
  const isHidden = cause instanceof Error && !(error instanceof OperatorError);
  const [line = ''] = (isHidden ? cause.message : message || String(code)).split('\n', 1);
  return line.replaceAll(/\p{C}/gu, '?');
}
