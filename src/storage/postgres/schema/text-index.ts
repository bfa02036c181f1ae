import { setImmediate as turn } from 'node:timers/promises';
import type { Field, TableSchema } from '../../../schema/model.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Companion } from '../../sql/dialect.ts';
import { MAX_INDEXED_LENGTH } from '../../sql/full-text/words.ts';
import type { Row, Session } from '../connection/database.ts';
import { companion } from '../sql/full-text-vector.ts';
import { quotedName as quote } from '../sql/names.ts';

/** Records whose texts are in memory at the same time: the first page, the maximum, and the approximate number of characters of a page. */
const INITIAL_PAGE_ROWS = 20;
const MAX_PAGE_ROWS = 500;
const MAX_PAGE_LENGTH = 8 * 1024 * 1024;
/** Characters that are split into words before yielding to the event loop. */
const YIELD_AFTER_LENGTH = 256 * 1024;

interface Filled {
  readonly field: Field;
  readonly companion: Companion;
}

/**
 * Fills the columns of words for existing texts, page by page, inside the caller's transaction.
 * @param table with its new text index
 * @param fields those whose words are missing
 */
export async function fillTextColumns(
  session: Session,
  schemaName: string,
  table: TableSchema,
  fields: readonly Field[],
): Promise<void> {
  const filled = fields.flatMap((field): Filled[] => {
    const created = companion(table, field);
    return created ? [{ field, companion: created }] : [];
  });
  if (filled.length === 0) return;
  const name = `${quote(schemaName)}.${quote(table.sqlName)}`;
  const columns = filled.map(({ field }) => quote(field.column));
  const texts = columns.map((column) => `left(${column}, ${MAX_INDEXED_LENGTH})`);
  const read = `SELECT "_seq", ${texts.join(', ')} FROM ${name}
    WHERE "_seq" > $1 AND (${columns.map((column) => `${column} IS NOT NULL`).join(' OR ')}) ORDER BY "_seq" LIMIT $2`;
  const write = updateOf(name, filled);
  let last = -1;
  for (let size = INITIAL_PAGE_ROWS; ; ) {
    const { rows } = await session.query({ text: read, params: [last, size] });
    const [seq] = rows.at(-1) ?? [];
    if (seq === undefined) return;
    last = seq as number;
    const { words, length } = await wordsOf(rows, filled);
    await session.query({ text: write, params: [JSON.stringify(words)] });
    if (rows.length < size) return;
    size = Math.max(1, Math.min(MAX_PAGE_ROWS, Math.floor((MAX_PAGE_LENGTH * rows.length) / Math.max(1, length))));
  }
}

/** Returns `[_seq, words, …]` for each record, and the total number of characters of the texts. */
async function wordsOf(rows: readonly Row[], filled: readonly Filled[]): Promise<{ words: StoredValue[][]; length: number }> {
  const words: StoredValue[][] = [];
  let length = 0;
  let turned = 0;
  for (const [id, ...texts] of rows) {
    words.push([id as StoredValue, ...filled.map((one, at) => one.companion.of(texts[at] as StoredValue))]);
    for (const text of texts) length += typeof text === 'string' ? text.length : 0;
    if (length - turned < YIELD_AFTER_LENGTH) continue;
    turned = length;
    await turn();
  }
  return { words, length };
}

/** Updates many rows by one statement, from JSON of `[_seq, words, …]`. */
function updateOf(name: string, filled: readonly Filled[]): string {
  const assignments = filled.map(({ companion: { column } }, at) => `${quote(column)} = (e ->> ${at + 1})::tsvector`);
  return `UPDATE ${name} AS t SET ${assignments.join(', ')}
    FROM json_array_elements($1::json) AS e WHERE t."_seq" = (e ->> 0)::bigint`;
}
