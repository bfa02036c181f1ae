import { ACCOUNTS, addNote, assignOwner, convertLead, NOTES } from '../../../crm/customers/actions.ts';
import { importRows } from '../../../crm/import/import.ts';
import { badArguments } from '../../../crm/refusals.ts';
import { pipelineSummary } from '../../../crm/sales/pipeline.ts';
import { jsonBytes } from '../../../kernel/json.ts';
import {
  choice,
  flag,
  localTime,
  MAX_RECORDS,
  names,
  object,
  objectId,
  objects,
  table,
  text,
} from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { describeOutcomes, fittingOutcomes, outcomesAnswer } from '../../results/outcomes.ts';
import { headOf, MAX_RESULT_BYTES } from '../../results/page.ts';

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
  input: { table: table(), objectIds: names(MAX_RECORDS), userId: objectId(), field: text(128).optional() },
  needs: ['mcp:update'],
  effect: 'change',
  isIdempotent: true,
  async run(call, assignment) {
    if (assignment.objectIds.length === 0) badArguments('objectIds must not be empty');
    const { field, outcomes } = await assignOwner(call, assignment);
    return { field, ...outcomesAnswer(describeOutcomes(outcomes)) };
  },
});

export const getPipelineSummary = defineTool({
  name: 'Get-Pipeline-Summary',
  group: 'crm',
  description:
    'Count and total of sales, open, won and lost, by status (default), owner, month or source; a sale counts at its ClosingDate, else when it was created.',
  input: {
    from: localTime().optional(),
    to: localTime().optional(),
    ownerId: objectId().optional(),
    groupBy: choice(['status', 'owner', 'month', 'source']).default('status'),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'Sales',
  async run(call, question) {
    const { summary, groups, hidden } = await pipelineSummary(call, question);
    return { ...summary, ...headOf(groups, groups.length), ...(hidden.length > 0 && { hidden: [...hidden] }) };
  },
});

/** Room for what surrounds the outcomes, besides the summary. */
const FRAME_BYTES = 2_000;

export const importRecords = defineTool({
  name: 'Import-Records',
  group: 'crm',
  description:
    'Import up to 1,000 flat rows {column: value}: converts labels, dates (ISO, DD/MM/YYYY), numbers, yes/no and lookup names, lists with ";", then creates or updates. Columns are field names or labels, or as fieldMap {column: field or null} says; rows that match a record by matchOn are handled by onDuplicate.',
  input: {
    table: table(),
    rows: objects(),
    fieldMap: object().optional(),
    matchOn: names(20).optional(),
    onDuplicate: choice(['skip', 'create', 'update']).default('skip'),
    dryRun: flag().optional(),
  },
  needs: ['mcp:create', 'mcp:update'],
  effect: 'change',
  async run(call, order) {
    const { summary, outcomes } = await importRows(call, order);
    const bytes = MAX_RESULT_BYTES - FRAME_BYTES - jsonBytes(summary);
    return { ...summary, results: fittingOutcomes(describeOutcomes(outcomes), bytes) };
  },
});
