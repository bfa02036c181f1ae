import { importRows } from '../../../crm/import/import.ts';
import { jsonBytes } from '../../../kernel/json.ts';
import { choice, flag, names, object, objects, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { describeOutcomes, fittingOutcomes } from '../../results/outcomes.ts';
import { RESULT_BYTES } from '../../results/page.ts';

/** What is around the outcomes, beside the summary. */
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
    const bytes = RESULT_BYTES - FRAME_BYTES - jsonBytes(summary);
    return { ...summary, results: fittingOutcomes(describeOutcomes(outcomes), bytes) };
  },
});
