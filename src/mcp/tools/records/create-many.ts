import { flag, objects, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { eachItem, reporter } from '../../kit/answers/items.ts';
import { outcomesAnswer } from '../../kit/answers/outcomes.ts';
import { withAdded } from '../../kit/writing/added.ts';
import { createRow, ignoredFlags } from '../../kit/writing/records.ts';

/** SPEC "Agent-tool layer (MCP)": Create-Many; the flags count under the master key alone. */
export const createMany = defineTool({
  name: 'Create-Many',
  group: 'records',
  description: 'Create up to 1,000 records of one table; returns one success or error per item, in order. No rollback.',
  input: {
    table: table(),
    data: objects(),
    skipTriggers: flag().optional(),
    skipTimeline: flag().optional(),
  },
  needs: ['mcp:create'],
  effect: 'add',
  run: (call, { table: className, data, ...silence }) =>
    withAdded(call, className, async () => {
      const outcomes = await eachItem(data, reporter(call.services.conditions), async (fields) => ({
        ...(await createRow(call, className, fields, silence)),
      }));
      return { ...outcomesAnswer(outcomes), ...ignoredFlags(call, silence) };
    }),
});
