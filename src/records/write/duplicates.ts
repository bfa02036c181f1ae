import { visibilityOf } from '../../access/index.ts';
import { errorOfItem, serviceError } from '../../errors/fail.ts';
import { DuplicateKey } from '../../storage/constraints.ts';
import type { RecordContext } from '../context/context.ts';

/** Returns an error as a caller may know it: without the fields of a unique index if one of them is hidden from it. */
export function knownDuplicate(error: unknown, { store, principal }: Pick<RecordContext, 'store' | 'principal'>): unknown {
  if (!(error instanceof DuplicateKey)) return error;
  const table = store.schema().tables.get(error.className);
  const hidden = table && visibilityOf(principal, table).hiddenFields;
  if (!hidden || !error.index.fields.some((name) => hidden.has(name))) return error;
  return errorOfItem(serviceError('duplicateValue'), error.item);
}
