import { pipelineSummary } from '../../../crm/sales/pipeline.ts';
import { choice, localTime, objectId } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { headOf } from '../../results/page.ts';

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
