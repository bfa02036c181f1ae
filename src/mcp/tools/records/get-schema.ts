import type { JsonValue } from '../../../kernel/json.ts';
import { listSchemas, getSchema as readSchema } from '../../../records/index.ts';
import { isBlocked, type SchemaRecord, tablesView, tableView } from '../../kit/schema-view.ts';
import { flag, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';

/** SPEC "Agent-tool layer (MCP)": Get-Schema; `{}` for blocked system tables. */
export const getSchema = defineTool({
  name: 'Get-Schema',
  group: 'records',
  description:
    'Tables, fields, types, labels and permissions of this system; call first, before any write. Without className returns every table (large): prefer tablesNameOnly, then one className.',
  input: { className: text(128).optional(), tablesNameOnly: flag().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { className, tablesNameOnly = false }): Promise<JsonValue> {
    if (className === undefined) {
      const { results } = JSON.parse(await listSchemas(call.context, !tablesNameOnly)) as { results: SchemaRecord[] };
      const tables = results.filter((table) => !isBlocked(table.className));
      return tablesNameOnly ? { results: tables.map((table) => table.className) } : tablesView(tables);
    }
    if (isBlocked(className)) return {};
    return tableView(JSON.parse(await readSchema(call.context, className, true)) as SchemaRecord);
  },
});
