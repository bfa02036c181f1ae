import { queryableFields, visibleFields } from '../../../crm/queries/field-visibility.ts';
import { findRows, oneMore, tableNamed } from '../../../crm/queries/records.ts';
import { accessErrors, badArguments } from '../../../crm/refusals.ts';
import { contains } from '../../../crm/search/text-match.ts';
import { titleFieldsOf, titleOf } from '../../../crm/wire/titles.ts';
import { ServiceError } from '../../../errors/fail.ts';
import { type JsonObject, jsonBytes } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { limit, names, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { headOf, MAX_RESULT_BYTES } from '../../results/page.ts';

/** Room for what surrounds the values of a table. */
const FRAME_BYTES = 300;

/** Pointer fields store the objectId. Reference: tools.md#get-lookup-values. */
export const getLookupValues = defineTool({
  name: 'Get-Lookup-Values',
  group: 'records',
  description: 'Values of lookup tables (statuses, sources, cities) with the objectId that Pointer fields store.',
  input: { tables: names(50), search: text(200).optional(), limit: limit(200) },
  needs: ['mcp:view'],
  effect: 'read',
  about: '_SCHEMA',
  async run(call, { tables, search, limit: maxRows }) {
    if (tables.length === 0) badArguments('tables must name a table', { next: 'Get-Schema with tablesNameOnly' });
    const known = [...new Set(tables)].map((name) => tableNamed(call, name));
    const hidden: string[] = [];
    const results: JsonObject[] = [];
    let left = MAX_RESULT_BYTES - known.length * FRAME_BYTES;
    let refusal: unknown;
    for (const table of known) {
      try {
        const found = await valuesOf(call, table, search, maxRows, left);
        left -= jsonBytes(found);
        results.push({ table: table.className, ...found });
      } catch (error) {
        if (!isUnseen(error)) throw error;
        refusal = error;
        hidden.push(table.className);
      }
    }
    if (results.length === 0) throw refusal;
    return { results, ...(hidden.length > 0 && { hidden }) };
  },
});

const isUnseen = (error: unknown): boolean =>
  error instanceof ServiceError && (accessErrors as readonly string[]).includes(error.key);

async function valuesOf(
  call: ToolCall,
  table: TableSchema,
  search: string | undefined,
  maxRows: number,
  bytes: number,
): Promise<JsonObject> {
  const titles = queryableFields(call, table, titleFieldsOf(table));
  const more = visibleFields(call, table, ['SystemKey', 'Active']);
  const order = [...queryableFields(call, table, ['SortOrder']), ...titles].join(',');
  const where = search === undefined ? undefined : { $or: titles.map((name) => contains(name, search)) };
  const ask = { where, keys: ['objectId', ...titles, ...more], order, limit: oneMore(maxRows) };
  const rows = await findRows(call, table.className, ask);
  const values = rows.map((row) => ({
    objectId: row.objectId,
    Name: titleOf(row) ?? null,
    ...(typeof row.SystemKey === 'string' && { SystemKey: row.SystemKey }),
    ...(row.Active === false && { Active: false }),
  }));
  const hint = 'There are more: narrow them with search, or ask for fewer tables.';
  const { results, ...rest } = headOf(values, maxRows, hint, Math.max(bytes, 0));
  return { values: results, ...rest };
}
