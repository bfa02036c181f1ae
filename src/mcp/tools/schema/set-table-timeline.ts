import { tableNamed } from '../../../crm/queries/records.ts';
import { badArguments } from '../../../crm/refusals.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { updateSchema } from '../../../records/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { isDescribed, isLog } from '../../../schema/system-tables.ts';
import { flag, object, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';

/** Parts that are not sent stay. Reference: tools.md#set-table-timeline, schemas.md#timeline-settings. */
export const setTableTimeline = defineTool({
  name: 'Set-Table-Timeline',
  group: 'schema',
  description: 'Turn change history on or off for a table and choose its fields {field: true}.',
  input: {
    className: table(),
    enabled: flag().default(true),
    displayFields: object().optional(),
    index: object().optional(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  async run(call, { className, enabled, displayFields, index }) {
    const known = tableNamed(call, className);
    if (!enabled) {
      if (displayFields || index) badArguments('displayFields and index go with enabled: true');
      await updateSchema(call, className, { timeline: null });
      return { className, enabled };
    }
    if (isLog(className)) badArguments(`className: ${className} is a log, and logs have no history`);
    if (displayFields) refuseUnknown(known, displayFields);
    const timelineOf = (table: TableSchema) => ({
      displayFields: displayFields ?? ({ ...table.timeline?.displayFields } as JsonObject),
      index: index ?? ({ ...table.timeline?.index } as JsonObject),
    });
    await updateSchema(call, className, (table) => ({ timeline: timelineOf(table) }));
    return { className, enabled, ...timelineOf(tableNamed(call, className)) };
  },
});

function refuseUnknown({ className, fields }: TableSchema, sent: JsonObject): void {
  const unknown = Object.keys(sent).filter((name) => !fields.has(name) || !isDescribed(className, name));
  if (unknown.length > 0)
    badArguments(`displayFields: ${className} has no field ${unknown.slice(0, 20).join(', ').slice(0, 500)}`, {
      next: 'Get-Schema',
    });
}
