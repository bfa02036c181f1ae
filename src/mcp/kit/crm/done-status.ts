import { fail } from '../../../errors/fail.ts';
import { badArguments } from '../answers/refusals.ts';
import { isClosed, type Status, type Statuses } from './statuses.ts';

/** What a status that ends work without doing it is called; the tables have no field that says so. */
const cancelled = /בוטל|מבוטל|נדח|cancel|abort|reject/i;

/**
 * The status of what is done: the one marked so (`SystemKey` `done`, `IsDone`), else the one that is closed and is not called cancelled.
 * @throws invalidArguments (107) where there is none, or several; permissionDenied (119) where the caller may not read them
 */
export function doneStatus({ rows, className }: Statuses): Status {
  if (!rows) return fail('permissionDenied', 'find', className);
  const inUse = rows.filter(({ Active }) => Active !== false);
  const marked = inUse.filter(({ SystemKey, IsDone }) => SystemKey === 'done' || IsDone === true);
  const closed = inUse.filter(isClosed);
  const told = marked.length > 0 ? marked : closed.filter(({ Name = '' }) => !cancelled.test(Name));
  const [only] = told;
  if (only && told.length === 1) return only;
  const candidates = (told.length > 0 ? told : closed).map(({ Name, objectId }) => `${Name} (${objectId})`).join(', ');
  return badArguments(
    told.length > 1
      ? `several statuses of ${className} are done: ${candidates}`
      : `no status of ${className} is known to be done`,
    { expected: 'Set StatusId by yourself, or mark the status by SystemKey "done"', next: 'Update-Record' },
  );
}
