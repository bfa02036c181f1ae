import type { TableModel } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { edited, emptyDraft } from '../memory/draft.ts';
import { type DraftKey, readDraft, writeDraft } from '../memory/drafts.ts';
import type { Paths } from '../model/address.ts';
import { randomId } from '../model/id.ts';
import { copyOf } from '../model/record.ts';
import { go } from '../ui/go.ts';

/** Starts a new record with the values on the screen, including unsaved ones. */
export function duplicate(key: DraftKey, table: TableModel, record: JsonObject, paths: Paths): void {
  const typed = Object.entries(readDraft(key)?.fields ?? {}).map(([name, field]) => [name, field.value]);
  const content = copyOf(table, { ...record, ...Object.fromEntries(typed) });
  const id = randomId();
  let draft = emptyDraft(randomId());
  for (const [name, value] of Object.entries(content)) draft = edited(draft, name, null, value, Date.now());
  writeDraft({ ...key, id: `new:${id}` }, draft);
  go(`${paths.newRecord(table.name)}?draft=${id}`);
}
