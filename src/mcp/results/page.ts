import { type Ask, findRows, oneMore } from '../../crm/queries/records.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonBytes, jsonBytesAtMost } from '../../kernel/json.ts';
import type { ToolCall } from '../definition/tool.ts';

/** Bytes of one answer: more fills an agent's context, and some clients cut it. */
export const MAX_RESULT_BYTES = 60_000;
/** What is around the rows: names, `nextSkip`, a hint. */
const FRAME_BYTES = 1_000;
/** What the rows of a list may take. */
export const MAX_LIST_BYTES = MAX_RESULT_BYTES - FRAME_BYTES;

/** A part of a list. */
export interface Page extends JsonObject {
  results: JsonValue[];
}

/**
 * As many rows as an answer takes; where there are more, `nextSkip` says how to go on, and `truncated` that the size was the reason.
 * @param rows one more than `limit` where there are more (`oneMore`)
 * @param asked `skip` and `limit` of the call
 * @param bytes that the answer has for them
 */
export function pageOf(
  rows: readonly JsonValue[],
  { skip = 0, limit }: { readonly skip?: number | undefined; readonly limit: number },
  bytes = MAX_LIST_BYTES,
): Page {
  const within = rows.slice(0, limit);
  const fitting = fit(within, bytes);
  const isCut = fitting < within.length;
  const results = within.slice(0, fitting);
  if (isCut && results.length === 0) return passedOver(rows, skip);
  if (!isCut && rows.length <= limit) return { results };
  return {
    results,
    ...(isCut && { truncated: true }),
    nextSkip: skip + results.length,
    ...(isCut && { hint: 'Name the keys that you need, or go on with skip.' }),
  };
}

/** A page that begins with a row which is too large alone: the way on leads past it. */
function passedOver([row = null, ...others]: readonly JsonValue[], skip: number): Page {
  const id = isJsonObject(row) && typeof row.objectId === 'string' ? `The record ${row.objectId}` : 'The first of them';
  const hint = `${id} alone is larger than an answer: name the keys that you need, or go on after it with skip.`;
  return { results: [], truncated: true, ...(others.length > 0 && { nextSkip: skip + 1 }), hint };
}

/**
 * The same of a list that no call goes on with: where it is not the whole, `truncated` and what to do instead.
 * @param rows one more than `limit` where there are more
 */
export function headOf(rows: readonly JsonValue[], limit: number, hint?: string, bytes = MAX_LIST_BYTES - FRAME_BYTES): Page {
  const within = rows.slice(0, limit);
  const results = within.slice(0, fit(within, bytes));
  return { results, ...(results.length < rows.length && { truncated: true, ...(hint !== undefined && { hint }) }) };
}

/** How many values of a list take so many bytes at most as JSON. */
export function fit(values: readonly JsonValue[], bytes: number): number {
  // Few answers are large: rows are written out to be measured only where it is needed.
  if (bytes === Number.POSITIVE_INFINITY || jsonBytesAtMost(values) <= bytes) return values.length;
  let left = bytes;
  for (const [count, value] of values.entries()) {
    left -= jsonBytes(value) + 1;
    if (left < 0) return count;
  }
  return values.length;
}

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
