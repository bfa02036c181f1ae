import { eachItem, reporter } from '../../../crm/commands/items.ts';
import { createRow, ignoredFlags } from '../../../crm/commands/records.ts';
import { withAdded } from '../../../crm/commands/schema-additions.ts';
import { flag, object, objects, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { describeOutcomes, outcomesAnswer } from '../../results/outcomes.ts';

/** Reference: tools.md#create-record. */
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

/** The silencing flags work with the master key only. Reference: tools.md#create-many, records.md#silencing-flags. */
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
      return { ...outcomesAnswer(describeOutcomes(outcomes)), ...ignoredFlags(call, silence) };
    }),
});
