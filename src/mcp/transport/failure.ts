import { ServiceError } from '../../errors/fail.ts';
import { retryAfterOf } from '../../errors/render.ts';
import { type RpcError, rpcCodes } from './messages.ts';

/** What is answered where a request could not be. Faults show nothing of themselves. */
export function failureOf(error: unknown): RpcError {
  if (!(error instanceof ServiceError)) return { status: 500, code: rpcCodes.internal, message: 'server error' };
  const { key, status, message } = error;
  if (key === 'invalidJson' || key === 'nestedTooDeep')
    return { status, code: rpcCodes.parse, message: `Parse error: ${message}` };
  // What is left of the body is not waited for.
  if (key === 'bodyTooSlow') return { status, code: rpcCodes.refused, message, headers: { connection: 'close' } };
  const retryAfter = retryAfterOf(error);
  const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } };
  return { status, code: status >= 500 ? rpcCodes.internal : rpcCodes.refused, message, ...headers };
}
