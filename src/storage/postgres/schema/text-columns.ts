import type { Field, TableSchema } from '../../../schema/model.ts';
import type { StoredValue } from '../../../values/type.ts';
import type { Companion } from '../../sql/dialect.ts';
import type { Session } from '../connection/database.ts';
import { quotedName as quote } from '../names.ts';
import { companion } from '../sql/full-text.ts';

/** Records whose texts are in memory at the same time. */
const PAGE = 500;

interface Filled {
  readonly field: Field;
  readonly companion: Companion;
}

/**
 * Writes the words of texts that are stored already, page by page, inside the caller's transaction.
 * @param table as it is with its new text index
 * @param fields those whose words have no value yet
 */
export async function fillTextColumns(
  session: Session,
  schemaName: string,
  table: TableSchema,
  fields: readonly Field[],
): Promise<void> {
  const filled = fields.flatMap((field): Filled[] => {
    const made = companion(table, field);
    return made ? [{ field, companion: made }] : [];
  });
  if (filled.length === 0) return;
  const name = `${quote(schemaName)}.${quote(table.sqlName)}`;
  const columns = filled.map(({ field }) => quote(field.column));
  const read = `SELECT "_seq", ${columns.join(', ')} FROM ${name}
    WHERE "_seq" > $1 AND (${columns.map((column) => `${column} IS NOT NULL`).join(' OR ')}) ORDER BY "_seq" LIMIT ${PAGE}`;
  const write = updateOf(name, filled);
  let last = -1;
  for (;;) {
    const { rows } = await session.query({ text: read, params: [last] });
    const [seq] = rows.at(-1) ?? [];
    if (seq === undefined) return;
    last = seq as number;
    const words = rows.map(([id, ...texts]) => [id, ...filled.map((one, at) => one.companion.of(texts[at] as StoredValue))]);
    await session.query({ text: write, params: [JSON.stringify(words)] });
    if (rows.length < PAGE) return;
  }
}

/** Rows of `[_seq, words, …]` as JSON, written at once. */
function updateOf(name: string, filled: readonly Filled[]): string {
  const assignments = filled.map(({ companion: { column } }, at) => `${quote(column)} = (e ->> ${at + 1})::tsvector`);
  return `UPDATE ${name} AS t SET ${assignments.join(', ')}
    FROM json_array_elements($1::json) AS e WHERE t."_seq" = (e ->> 0)::bigint`;
}
