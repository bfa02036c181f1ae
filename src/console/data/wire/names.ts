import type { CrmContext } from '../../../crm/context.ts';
import { targetNames } from '../../../crm/queries/names.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { PointerNames } from '../../protocol/protocol.ts';

/** The names of what Pointers among values point at: of records that the caller may find. */
export async function pointerNames(context: CrmContext, values: Iterable<JsonValue>): Promise<PointerNames> {
  const names = await targetNames(context, values);
  return Object.fromEntries([...names].map(([className, byId]) => [className, Object.fromEntries(byId)]));
}

/** The same of all fields of rows. */
export const rowNames = (context: CrmContext, rows: readonly JsonObject[]): Promise<PointerNames> =>
  pointerNames(
    context,
    rows.flatMap((row) => Object.values(row)),
  );
