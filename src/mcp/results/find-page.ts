import { type Ask, findRows, oneMore } from '../../crm/queries/records.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ToolCall } from '../definition/tool.ts';
import { type Page, pageOf } from './page.ts';

/** REST answers these whatever `keys` says; each costs an agent more than a small row. */
const always: readonly string[] = ['createdAt', 'updatedAt', 'ACL'];

/**
 * Rows of a read with `keys`, without the fields that come unasked. objectId stays.
 * @param keys of the read; without any the rows stay as they are
 */
export function withoutUnasked<T extends JsonObject>(rows: T[], keys: readonly string[] | undefined): T[] {
  const named = new Set((keys ?? []).flatMap((key) => key.split(',').map((name) => name.trim())));
  if (named.size === 0) return rows;
  const unasked = new Set(always.filter((name) => !named.has(name)));
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !unasked.has(name))) as T);
}

/** As much of a list as an answer takes. @throws what `findRecords` throws */
export async function findPage(call: ToolCall, table: string, ask: Ask): Promise<Page> {
  const rows = await findRows(call, table, { ...ask, limit: oneMore(ask.limit) });
  return pageOf(withoutUnasked(rows, ask.keys), ask);
}
