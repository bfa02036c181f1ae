import { queryableFields } from '../../../crm/queries/field-visibility.ts';
import { knownTables, requireFind, tableNamed } from '../../../crm/queries/records.ts';
import { accessErrors, badArguments, unless } from '../../../crm/refusals.ts';
import { fillRates, sizeOf } from '../../../crm/reports/table-stats.ts';
import { serviceError } from '../../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { listSchemas, getSchema as readSchema } from '../../../records/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { flag, names, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { isBlocked, MAX_SCHEMA_BYTES, tablesView, tableView } from '../../results/schema-view.ts';

/** `{}` for blocked system tables. Reference: tools.md#get-schema. */
export const getSchema = defineTool({
  name: 'Get-Schema',
  group: 'records',
  description:
    'Call first, before any write. With className one table: fields {name: {type, targetClass, dictionary (label)}}, permissions, indexes, timeline, triggers. Without it all tables with their fields (large): prefer tablesNameOnly (names alone), then one className.',
  input: { className: text(128).optional(), tablesNameOnly: flag().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  answerBytes: MAX_SCHEMA_BYTES,
  async run(call, { className, tablesNameOnly = false }): Promise<JsonValue> {
    if (className === undefined && tablesNameOnly)
      return { results: knownTables(call).flatMap((table) => (isBlocked(table.className) ? [] : [table.className])) };
    if (className === undefined) {
      const results = await listSchemas(call, true);
      return tablesView(results.filter((table) => !isBlocked(table.className)));
    }
    if (isBlocked(className)) return {};
    return tableView(await readSchema(call, className, true));
  },
});

/** Time after which no further table is counted; a call may take a minute. */
const COUNT_TIMEOUT_MS = 25_000;

/** Fill rates are computed only for named tables, because each scans all records. Reference: tools.md#get-table-stats. */
export const getTableStats = defineTool({
  name: 'Get-Table-Stats',
  group: 'records',
  description:
    'Row count and last change of the tables in use; of tables that are named the fill rate of fields too (1 = all rows).',
  input: { tables: names(20).optional() },
  needs: ['mcp:view'],
  effect: 'read',
  about: '_SCHEMA',
  async run(call, { tables }) {
    if (tables?.length === 0) badArguments('tables must name a table, or be left out');
    // Includes blocked tables: a count reveals nothing of their content.
    const wanted = tables ? [...new Set(tables)].map((name) => tableNamed(call, name)) : knownTables(call);
    const since = performance.now();
    const results: JsonObject[] = [];
    const left: { [Why in 'hidden' | 'notCounted']?: string[] } = {};
    for (const table of wanted) {
      if (call.signal.aborted) throw serviceError('timeout');
      const isLate = performance.now() - since > COUNT_TIMEOUT_MS;
      const found = isLate ? 'notCounted' : await statsOf(call, table, tables !== undefined);
      if (typeof found === 'string') left[found] = [...(left[found] ?? []), table.className];
      else if (tables !== undefined || found.rows !== 0) results.push(found);
    }
    const [first] = wanted;
    // If the caller may see none of the named tables, it is refused like any read of the first.
    if (tables && first && left.hidden?.length === wanted.length) await requireFind(call, first.className);
    return { results, ...left };
  },
});

function statsOf(call: ToolCall, table: TableSchema, withFields: boolean): Promise<JsonObject | 'hidden' | 'notCounted'> {
  return unless(['timeout'], 'notCounted', () =>
    unless(accessErrors, 'hidden', async () => {
      const { rows, lastChange } = await sizeOf(call, table);
      const size = { table: table.className, rows, lastChange };
      if (!withFields) return size;
      const fields = queryableFields(call, table, table.fields.keys());
      return { ...size, fields: await fillRates(call, table, fields, rows) };
    }),
  );
}
