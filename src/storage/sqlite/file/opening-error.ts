import { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, unavailableSince } from '../../../errors/system-faults.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { StoreRefused } from '../../identity.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import { isDamage } from '../schema/identity.ts';
import { checkStorage } from './placed-file.ts';

/** Maps the error of opening a file: damage, `unavailable` for a transient fault, any other unchanged. The cause names the file. */
export function openingFault(error: unknown, path: string): unknown {
  if (error instanceof ServiceError || error instanceof OperatorError) return error;
  if (isDamage(error)) return new StoreRefused('damaged', path, error);
  if (!storeFaultOf(error)) return error;
  const { message, errcode, code } = error as { readonly message: string; readonly errcode?: unknown; readonly code?: unknown };
  return unavailableSince(Object.assign(new OperatorError(`${path}: ${message}`, { cause: error }), { errcode, code }));
}

/** Returns the kind of transient fault to log for a file that could not be opened; `null` if it is not one: the caller reports the error. */
export function kindOfOpening(error: unknown, path: string): PassingFault | null {
  const fault = error instanceof OperatorError || isDamage(error) ? null : storeFaultOf(error);
  if (!fault || !ambiguousKinds.has(fault.kind)) return fault?.kind ?? null;
  return checkStorage(path) ?? fault.kind;
}

/** Faults that SQLite does not distinguish reliably. */
const ambiguousKinds: ReadonlySet<PassingFault> = new Set([
  'an I/O error',
  'the store cannot be opened',
  'the storage is read-only',
]);

/** Returns the kind of fault to log for a file that exists but was refused. */
export function kindOfRefusal(error: unknown): PassingFault {
  const why = error instanceof StoreRefused ? error.why : 'foreign';
  return why === 'older'
    ? 'the store is older than the registry says'
    : `the store is ${why === 'foreign' ? "another system's" : why}`;
}
