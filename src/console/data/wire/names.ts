import type { CrmContext } from '../../../crm/context.ts';
import { targetNames } from '../../../crm/queries/names.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { PointerNames } from '../../protocol/protocol.ts';

/** Returns the names of the records that Pointers among the values point at, as far as the caller may find them. */
export async function pointerNames(context: CrmContext, values: Iterable<JsonValue>): Promise<PointerNames> {
  const names = await targetNames(context, values);
  return Object.fromEntries([...names].map(([className, byId]) => [className, Object.fromEntries(byId)]));
}

/** Like `pointerNames`, for all fields of rows. */
export const rowNames = (context: CrmContext, rows: readonly JsonObject[]): Promise<PointerNames> =>
  pointerNames(
    context,
    rows.flatMap((row) => Object.values(row)),
  );
