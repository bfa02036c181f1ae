import { channels, findMessages } from '../../../crm/messages/find-messages.ts';
import { shownRange } from '../../../crm/time/range.ts';
import { choice, flag, limit, localTime, recordId, skip } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { pageOf } from '../../results/page.ts';

/** SPEC "Main business tables": Conversations, Emails, SMS, CallRecords. */
export const getMessages = defineTool({
  name: 'Get-Messages',
  group: 'documents',
  description: 'Conversations, messages, e-mails, SMS and calls with delivery status, newest first.',
  input: {
    accountId: recordId().optional(),
    conversationId: recordId().optional(),
    channel: choice(channels).default('all'),
    from: localTime().optional(),
    to: localTime().optional(),
    failedOnly: flag().optional(),
    limit: limit(20, 100),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'ConversationMessages',
  async run(call, question) {
    const { messages, range, hidden, missing } = await findMessages(call, question);
    return {
      ...pageOf(messages, question),
      ...shownRange(range),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(missing.length > 0 && { missing: [...missing] }),
    };
  },
});
