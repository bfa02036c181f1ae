import { type Ask, findEscaped, oneMore } from '../../crm/queries/records.ts';
import {
  escapeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonBytes,
  maxJsonBytes,
  unescapeJson,
} from '../../kernel/json.ts';
import { EscapedAnswer } from '../definition/answer.ts';
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

/** `skip` and `limit` of a call. */
interface PageRequest {
  readonly skip?: number | undefined;
  readonly limit: number;
}

/**
 * Returns as many rows as fit into an answer. If there are more, `nextSkip` continues the list; `truncated` means that the size was the reason.
 * @param rows one more than `limit` if there are more (`oneMore`)
 * @param bytes maximum size of the rows
 */
export function pageOf(rows: readonly JsonValue[], request: PageRequest, bytes = MAX_LIST_BYTES): Page {
  const within = rows.slice(0, request.limit);
  const fitting = countFitting(within, bytes);
  const end = endOfPage({ read: rows.length, fitting, first: () => rows[0] ?? null }, request);
  return { results: within.slice(0, fitting), ...end };
}

/** Rows that were read for a page: their number, how many of those requested fit, the first. */
interface RowsRead {
  readonly read: number;
  readonly fitting: number;
  readonly first: () => JsonValue;
}

/** Returns the members of a page after its rows. */
function endOfPage({ read, fitting, first }: RowsRead, { skip = 0, limit }: PageRequest): JsonObject {
  const isCut = fitting < Math.min(read, limit);
  if (isCut && fitting === 0) return afterFirst(first(), read > 1, skip);
  if (!isCut && read <= limit) return {};
  return {
    ...(isCut && { truncated: true }),
    nextSkip: skip + fitting,
    ...(isCut && { hint: 'Name the keys that you need, or go on with skip.' }),
  };
}

/** The end of a page whose first row alone is too large: the list continues after it. */
function afterFirst(row: JsonValue, hasOthers: boolean, skip: number): JsonObject {
  const id = isJsonObject(row) && typeof row.objectId === 'string' ? `The record ${row.objectId}` : 'The first of them';
  const hint = `${id} alone is larger than an answer: name the keys that you need, or go on after it with skip.`;
  return { truncated: true, ...(hasOthers && { nextSkip: skip + 1 }), hint };
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

/** A page whose rows are texts that stand inside a JSON string, and its other members. */
export interface EscapedPage {
  readonly rows: string;
  readonly end: JsonObject;
}

/** Reads a page of records, as `pageOf`. With `keys`, only these are read. @throws errors of `findEscaped` */
export async function findPage(call: ToolCall, table: string, ask: Ask): Promise<EscapedPage> {
  const rows = await findEscaped(call, table, { ...ask, keysAlone: true, limit: oneMore(ask.limit) });
  const within = rows.slice(0, ask.limit);
  const fitting = countFittingTexts(within, MAX_LIST_BYTES);
  const first = () => JSON.parse(unescapeJson(rows[0] as string)) as JsonValue;
  return { rows: within.slice(0, fitting).join(), end: endOfPage({ read: rows.length, fitting, first }, ask) };
}

/** Like `countFitting`, for texts that stand inside a JSON string. */
function countFittingTexts(texts: readonly string[], bytes: number): number {
  // A character has three bytes at most.
  if (texts.reduce((sum, text) => sum + 3 * text.length + 1, 0) <= bytes) return texts.length;
  let left = bytes;
  for (const [count, text] of texts.entries()) {
    left -= Buffer.byteLength(unescapeJson(text)) + 1;
    if (left < 0) return count;
  }
  return texts.length;
}

/** Returns a page as the answer of a tool. @param end its other members */
export function answerOf({ rows }: EscapedPage, end: JsonObject): EscapedAnswer {
  const members = JSON.stringify(end).slice(1);
  return new EscapedAnswer(`${pageStart}${rows}]${members === '}' ? members : `,${escapeJson(members)}`}`);
}

const pageStart = escapeJson('{"results":[');
