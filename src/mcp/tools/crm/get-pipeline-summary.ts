import { pipelineSummary } from '../../kit/pipeline.ts';
import { choice, instant, objectId } from '../parameters.ts';
import { defineTool } from '../tool.ts';

export const getPipelineSummary = defineTool({
  name: 'Get-Pipeline-Summary',
  group: 'crm',
  description:
    'Count and total of sales, open, won and lost, by status (default), owner, month or source; a sale counts at its ClosingDate, else when it was created.',
  input: {
    from: instant().optional(),
    to: instant().optional(),
    ownerId: objectId().optional(),
    groupBy: choice(['status', 'owner', 'month', 'source']).default('status'),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'Sales',
  run: pipelineSummary,
});
