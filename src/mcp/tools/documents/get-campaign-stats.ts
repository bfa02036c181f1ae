import { campaignStats, SENT_LOG } from '../../../crm/messages/campaigns.ts';
import { shownRange } from '../../../crm/time/range.ts';
import { flag, limit, localTime, recordId } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { headOf } from '../../results/page.ts';

export const getCampaignStats = defineTool({
  name: 'Get-Campaign-Stats',
  group: 'documents',
  description: 'Sent, delivered, opened, clicked, failed and unsubscribed per campaign, with top errors.',
  input: {
    campaignId: recordId().optional(),
    from: localTime().optional(),
    to: localTime().optional(),
    errors: flag().optional(),
    limit: limit(20, 200),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: SENT_LOG,
  listedBy: 'Get-Data on Campaigns',
  async run(call, question) {
    const { results, range, hidden, missing } = await campaignStats(call, question);
    if (missing.includes(SENT_LOG))
      return { results: [], missing: [...missing], hint: `Without ${SENT_LOG} nothing is known of what was sent.` };
    const page = headOf(results, question.limit, 'There are more campaigns: raise limit, or narrow with from and to.');
    return {
      ...page,
      ...shownRange(range),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(missing.length > 0 && { missing: [...missing] }),
    };
  },
});
