import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import { flag, objects, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { eachItem, reporter } from '../../kit/answers/items.ts';
import { outcomesAnswer } from '../../kit/answers/outcomes.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { withAdded } from '../../kit/writing/added.ts';
import { ignoredFlags, updateRow } from '../../kit/writing/records.ts';

/** As Create-Many: each update has its own outcome. */
export const updateMany = defineTool({
  name: 'Update-Many',
  group: 'records',
  description: 'Change up to 1,000 records by id, updates: [{objectId, data}]; per-item results, no rollback.',
  input: {
    table: table(),
    updates: objects(),
    skipTriggers: flag().optional(),
    skipTimeline: flag().optional(),
  },
  needs: ['mcp:update'],
  effect: 'change',
  run: (call, { table: className, updates, ...silence }) => {
    const read = updates.map(readUpdate);
    return withAdded(call, className, async () => {
      const outcomes = await eachItem(read, reporter(call.services.conditions), ({ objectId, data }) =>
        updateRow(call, className, objectId, data, silence),
      );
      return { ...outcomesAnswer(outcomes), ...ignoredFlags(call, silence) };
    });
  },
});

/** All are read before any is written, so that a list in another form leaves nothing half done. */
function readUpdate(update: JsonObject, index: number): { objectId: string; data: JsonObject } {
  const { objectId, data, ...others } = update;
  const [other] = Object.keys(others);
  const expected = 'updates: [{"objectId":"<id>","data":{"<Field>":<value>}}]';
  if (other !== undefined) badArguments(`updates[${index}].${other.slice(0, 100)} is unknown`, { expected });
  if (typeof objectId !== 'string' || objectId === '') badArguments(`updates[${index}].objectId is required`, { expected });
  if (!isJsonObject(data)) badArguments(`updates[${index}].data must be an object`, { expected });
  return { objectId, data };
}
