import { withAdded } from '../../kit/added.ts';
import { createRow } from '../../kit/records.ts';
import { flag, object, table } from '../parameters.ts';
import { defineTool } from '../tool.ts';

/** SPEC "Records: Create". */
export const createRecord = defineTool({
  name: 'Create-Record',
  group: 'records',
  description: 'Create one record; returns its objectId.',
  input: { table: table(), data: object(), skipTriggers: flag().optional(), skipTimeline: flag().optional() },
  needs: ['mcp:create'],
  effect: 'add',
  run: (call, { table: className, data, ...silence }) =>
    withAdded(call, className, async () => ({ ...(await createRow(call, className, data, silence)) })),
});
