import { MOST_RECORDS, names, objectId, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { eachItem, reporter } from '../../kit/answers/items.ts';
import { outcomesAnswer } from '../../kit/answers/outcomes.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { ownerField, requireUser, userPointer } from '../../kit/people/users.ts';
import { grantOn } from '../../kit/reading/visible.ts';
import { updateRow } from '../../kit/writing/records.ts';

/** Each record has its own outcome, as in Update-Many. */
export const assignOwner = defineTool({
  name: 'Assign-Owner',
  group: 'crm',
  description: 'Give up to 1,000 records to a user, by field OwnerId unless another is named; per-item results.',
  input: { table: table(), objectIds: names(MOST_RECORDS), userId: objectId(), field: text(128).optional() },
  needs: ['mcp:update'],
  effect: 'change',
  isIdempotent: true,
  async run(call, { table: className, objectIds, userId, field }) {
    if (objectIds.length === 0) badArguments('objectIds must not be empty');
    const { table: about } = grantOn(call, className, 'update', objectIds[0]);
    const owner = ownerField(call, about, field);
    await requireUser(call, 'userId', userId);
    const outcomes = await eachItem(objectIds, reporter(call.services.conditions), async (id) => {
      await updateRow(call, className, id, { [owner]: userPointer(userId) });
      return { objectId: id };
    });
    return { field: owner, ...outcomesAnswer(outcomes) };
  },
});
