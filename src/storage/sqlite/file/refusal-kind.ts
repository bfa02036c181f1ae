import type { PassingFault } from '../../../errors/system-faults.ts';
import { StoreRefused } from '../../identity.ts';

/** A file that is there is refused for what it is. */
export function kindOfRefusal(error: unknown): PassingFault {
  const why = error instanceof StoreRefused ? error.why : 'foreign';
  return why === 'older'
    ? 'the store is older than the registry says'
    : `the store is ${why === 'foreign' ? "another system's" : why}`;
}
