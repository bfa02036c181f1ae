import { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, unavailableSince } from '../../../errors/system-faults.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { StoreRefused } from '../../identity.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import { isDamage } from '../schema/identity.ts';
import { checkStorage } from './placed-file.ts';

/** What a file that could not be opened is told as: damage, `unavailable` for what can pass, the error itself for all else. Its cause names it. */
export function openingFault(error: unknown, path: string): unknown {
  if (error instanceof ServiceError || error instanceof OperatorError) return error;
  if (isDamage(error)) return new StoreRefused('damaged', path, error);
  if (!storeFaultOf(error)) return error;
  const { message, errcode, code } = error as { readonly message: string; readonly errcode?: unknown; readonly code?: unknown };
  return unavailableSince(Object.assign(new OperatorError(`${path}: ${message}`, { cause: error }), { errcode, code }));
}

/** What the log is told of a file that could not be opened; `null` where that is no fault that can pass: the caller reports that one. */
export function kindOfOpening(error: unknown, path: string): PassingFault | null {
  const fault = error instanceof OperatorError || isDamage(error) ? null : storeFaultOf(error);
  if (!fault || !toldByStorage.has(fault.kind)) return fault?.kind ?? null;
  return checkStorage(path) ?? fault.kind;
}

/** SQLite does not tell these from each other. */
const toldByStorage: ReadonlySet<PassingFault> = new Set([
  'an I/O error',
  'the store cannot be opened',
  'the storage is read-only',
]);

/** A file that is there is refused for what it is. */
export function kindOfRefusal(error: unknown): PassingFault {
  const why = error instanceof StoreRefused ? error.why : 'foreign';
  return why === 'older'
    ? 'the store is older than the registry says'
    : `the store is ${why === 'foreign' ? "another system's" : why}`;
}
