import type { JsonValue } from '../../../kernel/json.ts';
import { listSchemas, getSchema as readSchema } from '../../../records/index.ts';
import { flag, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { knownTables } from '../../kit/reading/tables.ts';
import { isBlocked, SCHEMA_BYTES, type SchemaRecord, tablesView, tableView } from '../../kit/schema/view.ts';

/** SPEC "Agent-tool layer (MCP)": Get-Schema; `{}` for blocked system tables. */
export const getSchema = defineTool({
  name: 'Get-Schema',
  group: 'records',
  description:
    'Call first, before any write. With className one table: fields {name: {type, targetClass, dictionary (label)}}, permissions, indexes, timeline, triggers. Without it all tables with their fields (large): prefer tablesNameOnly (names alone), then one className.',
  input: { className: text(128).optional(), tablesNameOnly: flag().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  answerBytes: SCHEMA_BYTES,
  async run(call, { className, tablesNameOnly = false }): Promise<JsonValue> {
    if (className === undefined && tablesNameOnly)
      return { results: knownTables(call).flatMap((table) => (isBlocked(table.className) ? [] : [table.className])) };
    if (className === undefined) {
      const { results } = JSON.parse(await listSchemas(call.context, true)) as { results: SchemaRecord[] };
      return tablesView(results.filter((table) => !isBlocked(table.className)));
    }
    if (isBlocked(className)) return {};
    return tableView(JSON.parse(await readSchema(call.context, className, true)) as SchemaRecord);
  },
});
