import { countRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { among } from './steps.ts';
import { queueTable, retryableKinds } from './table.ts';

/** Counts the jobs in a system's queue, of all processes. */
export function countJobs(store: Store): Promise<number> {
  return countRows(store, {
    className: queueTable,
    filter: (table) => among(table, 'kind', ['write', 'schedule', ...retryableKinds]),
  });
}
