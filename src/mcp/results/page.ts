import { type Ask, findRows, oneMore } from '../../crm/queries/records.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonBytes, maxJsonBytes } from '../../kernel/json.ts';
import type { ToolCall } from '../definition/tool.ts';

/** Maximum size of an answer: more fills an agent's context, and some clients truncate it. Reference: agents.md#answers. */
export const MAX_RESULT_BYTES = 60_000;
/** Room for what surrounds the rows: names, `nextSkip`, a hint. */
const FRAME_BYTES = 1_000;
/** Maximum size of the rows of a list. */
export const MAX_LIST_BYTES = MAX_RESULT_BYTES - FRAME_BYTES;

/** A page of a list. */
export interface Page extends JsonObject {
  results: JsonValue[];
}

/**
 * Returns as many rows as fit into an answer. If there are more, `nextSkip` continues the list; `truncated` means that the size was the reason.
 * @param rows one more than `limit` if there are more (`oneMore`)
 * @param request `skip` and `limit` of the call
 * @param bytes maximum size of the rows
 */
export function pageOf(
  rows: readonly JsonValue[],
  { skip = 0, limit }: { readonly skip?: number | undefined; readonly limit: number },
  bytes = MAX_LIST_BYTES,
): Page {
  const within = rows.slice(0, limit);
  const fitting = countFitting(within, bytes);
  const isCut = fitting < within.length;
  const results = within.slice(0, fitting);
  if (isCut && results.length === 0) return skipFirst(rows, skip);
  if (!isCut && rows.length <= limit) return { results };
  return {
    results,
    ...(isCut && { truncated: true }),
    nextSkip: skip + results.length,
    ...(isCut && { hint: 'Name the keys that you need, or go on with skip.' }),
  };
}

/** A page whose first row alone is too large: the list continues after it. */
function skipFirst([row = null, ...others]: readonly JsonValue[], skip: number): Page {
  const id = isJsonObject(row) && typeof row.objectId === 'string' ? `The record ${row.objectId}` : 'The first of them';
  const hint = `${id} alone is larger than an answer: name the keys that you need, or go on after it with skip.`;
  return { results: [], truncated: true, ...(others.length > 0 && { nextSkip: skip + 1 }), hint };
}

/**
 * Like `pageOf`, for a list that cannot be continued: if it is incomplete, `truncated` and a hint.
 * @param rows one more than `limit` if there are more
 */
export function headOf(rows: readonly JsonValue[], limit: number, hint?: string, bytes = MAX_LIST_BYTES - FRAME_BYTES): Page {
  const within = rows.slice(0, limit);
  const results = within.slice(0, countFitting(within, bytes));
  return { results, ...(results.length < rows.length && { truncated: true, ...(hint !== undefined && { hint }) }) };
}

/** Returns how many values, from the first, fit into a number of bytes as JSON. */
export function countFitting(values: readonly JsonValue[], bytes: number): number {
  // Few answers are large, so rows are measured one by one only if necessary.
  if (bytes === Number.POSITIVE_INFINITY || maxJsonBytes(values) <= bytes) return values.length;
  let left = bytes;
  for (const [count, value] of values.entries()) {
    left -= jsonBytes(value) + 1;
    if (left < 0) return count;
  }
  return values.length;
}

/** Fields that REST returns regardless of `keys`; each takes more room than a small row. */
const unrequestedFields: readonly string[] = ['createdAt', 'updatedAt', 'ACL'];

/** Removes fields that `keys` does not name but REST returns; objectId stays. @param keys of the read; if empty, the rows stay unchanged */
export function omitUnrequested<T extends JsonObject>(rows: T[], keys: readonly string[] | undefined): T[] {
  const named = new Set((keys ?? []).flatMap((key) => key.split(',').map((name) => name.trim())));
  if (named.size === 0) return rows;
  const omitted = new Set(unrequestedFields.filter((name) => !named.has(name)));
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !omitted.has(name))) as T);
}

/** Reads a page of records. @throws errors of `findRecords` */
export async function findPage(call: ToolCall, table: string, ask: Ask): Promise<Page> {
  const rows = await findRows(call, table, { ...ask, limit: oneMore(ask.limit) });
  return pageOf(omitUnrequested(rows, ask.keys), ask);
}
