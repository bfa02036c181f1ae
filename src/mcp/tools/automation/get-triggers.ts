import { flag, MOST_ROWS, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { pageOf } from '../../kit/answers/page.ts';
import { withShortTexts } from '../../kit/answers/short-text.ts';
import { findRows } from '../../kit/reading/records.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { definitionKeys, definitionOf } from '../../kit/triggers/definitions.ts';

/** SPEC "Agent-tool layer (MCP)": Get-Triggers. */
export const getTriggers = defineTool({
  name: 'Get-Triggers',
  group: 'automation',
  description: 'Automation triggers: event, criteria, actions.',
  input: { className: table().optional(), activeOnly: flag().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  about: '_Trigger',
  async run(call, { className, activeOnly }) {
    const where = {
      ...(className !== undefined && { table: className }),
      ...(activeOnly === true && { Active: { $ne: false } }),
    };
    const rows = await findRows(call, '_Trigger', { where, keys: definitionKeys, limit: MOST_ROWS });
    // A table may be gone and have triggers still.
    if (rows.length === 0 && className !== undefined) tableNamed(call, className);
    const definitions = rows.map(definitionOf);
    const whole = pageOf(definitions, { limit: MOST_ROWS });
    if (whole.truncated !== true) return whole;
    const { results, truncated } = pageOf(
      definitions.map((definition) => withShortTexts(definition)),
      { limit: MOST_ROWS },
    );
    const hint = 'Long texts are cut: name the className, or read one by its _id with Get-Data on _Trigger.';
    return { results, ...(truncated !== undefined && { truncated }), hint };
  },
});
