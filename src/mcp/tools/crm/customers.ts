import { ACCOUNTS, addNote, assignOwner, convertLead, NOTES } from '../../../crm/customers/actions.ts';
import { badArguments } from '../../../crm/refusals.ts';
import { MOST_RECORDS, names, objectId, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { describeOutcomes, outcomesAnswer } from '../../results/outcomes.ts';

export const addNoteTool = defineTool({
  name: 'Add-Note',
  group: 'crm',
  description: 'Add a note to a record.',
  input: { table: table(), objectId: objectId(), comment: text(1_000_000), name: text(1_000).optional() },
  needs: ['mcp:create'],
  effect: 'add',
  about: NOTES,
  run: addNote,
});

export const convertLeadTool = defineTool({
  name: 'Convert-Lead',
  group: 'crm',
  description: 'Turn a lead into a customer (IsAccount true); statusId is one of AccountStatuses.',
  input: { objectId: objectId(), statusId: objectId().optional(), ownerId: objectId().optional() },
  needs: ['mcp:update'],
  effect: 'change',
  isIdempotent: true,
  about: ACCOUNTS,
  listedBy: 'Search-Records',
  run: convertLead,
});

/** Each record has its own outcome, as in Update-Many. */
export const assignOwnerTool = defineTool({
  name: 'Assign-Owner',
  group: 'crm',
  description: 'Give up to 1,000 records to a user, by field OwnerId unless another is named; per-item results.',
  input: { table: table(), objectIds: names(MOST_RECORDS), userId: objectId(), field: text(128).optional() },
  needs: ['mcp:update'],
  effect: 'change',
  isIdempotent: true,
  async run(call, assignment) {
    if (assignment.objectIds.length === 0) badArguments('objectIds must not be empty');
    const { field, outcomes } = await assignOwner(call, assignment);
    return { field, ...outcomesAnswer(describeOutcomes(outcomes)) };
  },
});
