import { flag, object, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { withAdded } from '../../kit/writing/added.ts';
import { createRow, ignoredFlags } from '../../kit/writing/records.ts';

/** SPEC "Records: Create". */
export const createRecord = defineTool({
  name: 'Create-Record',
  group: 'records',
  description: 'Create one record; returns its objectId.',
  input: { table: table(), data: object(), skipTriggers: flag().optional(), skipTimeline: flag().optional() },
  needs: ['mcp:create'],
  effect: 'add',
  run: (call, { table: className, data, ...silence }) =>
    withAdded(call, className, async () => ({
      ...(await createRow(call, className, data, silence)),
      ...ignoredFlags(call, silence),
    })),
});
