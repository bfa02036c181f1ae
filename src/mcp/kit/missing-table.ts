import type { JsonObject } from '../../kernel/json.ts';
import type { ToolCall } from '../tools/tool.ts';

/** What a read of a table tells that there is not: it has no records (SPEC "Errors"), which agents would take for an answer. */
export function missingTable({ context }: ToolCall, className: string): JsonObject {
  if (context.store.schema().tables.has(className)) return {};
  return { hint: `There is no table ${className}: names are case-sensitive. Call Get-Schema with tablesNameOnly.` };
}
