import { isoText } from '../../../kernel/time.ts';
import { createRecord, type RecordContext } from '../../../records/index.ts';
import { administratorsOf } from '../../../users/index.ts';
import { wireDate, wirePointer } from '../../../values/json/wire.ts';

const table = '_Notification';

/**
 * Notifies the administrators of a system that its backup failed (backup.md#scheduled-backups). The reason stays in the log, because it may contain
 * information for the operator only.
 * @param context with master rights
 * @param dueAt milliseconds since 1970
 * @throws errors of reads and creates
 */
export async function notifyAdministrators(context: RecordContext, dueAt: number): Promise<void> {
  if (!context.store.schema().tables.has(table)) return;
  const at = isoText(dueAt);
  const Content = `The backup that was due at ${at} failed; the log of the service says why. הגיבוי שנועד ל־${at} נכשל; הסיבה רשומה ביומן השירות.`;
  for (const userId of await administratorsOf(context))
    await createRecord(context, table, { User: wirePointer('_User', userId), Content, Date: wireDate(isoText(Date.now())) });
}
