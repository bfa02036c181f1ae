import { isFileType, type TableSchema } from '../../schema/model.ts';
import type { CloneOptions } from './options.ts';
import { RowChanges } from './row-changes.ts';
import { fileTable, usageTable } from './shares.ts';

/**
 * Returns what a clone changes in the records of a table.
 * @param hasUsers whether the clone has users
 * @param cleared called for each value of a File field that is cleared
 */
export function changesOf(
  table: TableSchema,
  { withFiles, withLogins }: Pick<CloneOptions, 'withFiles' | 'withLogins'>,
  { hasUsers, cleared }: { readonly hasUsers: boolean; readonly cleared: () => void },
): RowChanges {
  const changes = new RowChanges(table);
  const { className } = table;
  if (!withFiles) clearFiles(changes, table, cleared);
  if (className === '_User') {
    // Links to reset a password are for the address of the original.
    for (const field of ['_reset_token', '_reset_expires_at']) changes.clear(field);
    if (!withLogins) changes.clear('password');
  }
  // Without users a trigger would have the rights of no one.
  if (className === '_Trigger' && !hasUsers) changes.clear('_author');
  if (className === fileTable) {
    // Assigned by the file store; the copied bytes have new ones.
    changes.clear('version');
    // A large upload that has not arrived goes to the original.
    changes.require('size');
  }
  if (className === usageTable && !withFiles) for (const field of ['files', 'bytes']) changes.change(field, () => 0);
  return changes;
}

function clearFiles(changes: RowChanges, table: TableSchema, cleared: () => void): void {
  for (const { name, type } of table.fields.values())
    if (isFileType(type))
      changes.change(name, () => {
        cleared();
        return null;
      });
}
