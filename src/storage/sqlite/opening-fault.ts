import { ServiceError } from '../../errors/fail.ts';
import { unavailableSince } from '../../errors/system-faults.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { StoreRefused } from '../identity.ts';
import { storeFaultOf } from './faults.ts';
import { isDamage } from './identity.ts';

/** What a file that could not be opened is told as: damage, `unavailable` for what can pass, the error itself for all else. Its cause names it. */
export function openingFault(error: unknown, path: string): unknown {
  if (error instanceof ServiceError || error instanceof OperatorError) return error;
  if (isDamage(error)) return new StoreRefused('damaged', path, error);
  if (!storeFaultOf(error)) return error;
  const { message, errcode, code } = error as { readonly message: string; readonly errcode?: unknown; readonly code?: unknown };
  return unavailableSince(Object.assign(new OperatorError(`${path}: ${message}`, { cause: error }), { errcode, code }));
}
