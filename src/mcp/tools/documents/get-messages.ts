import type { JsonObject } from '../../../kernel/json.ts';
import { choice, flag, limit, localTime, recordId, skip } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { pageOf } from '../../kit/answers/page.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { type MessageSource, messageOf, messageSources } from '../../kit/documents/messages.ts';
import { newestOf } from '../../kit/reading/newest.ts';
import { hasField } from '../../kit/reading/tables.ts';
import { rangeOf, shownRange } from '../../kit/time/range.ts';
import { pointer } from '../../kit/values/wire.ts';

const channels = ['whatsapp', 'sms', 'email', 'call', 'chat', 'all'] as const;
type Channel = (typeof channels)[number];

/** What to look for. */
interface Sought {
  readonly accountId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly channel: Channel;
  readonly failedOnly?: boolean | undefined;
}

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
  async run(call, { from, to, limit: most, skip: start, ...sought }) {
    const { sources, missing } = sourcesFor(call, sought);
    const range = await rangeOf(call, { from, to }, true);
    const { placed, hidden } = await newestOf(call, sources, { range, skip: start, limit: most });
    const messages: JsonObject[] = [];
    for (const { source, row, at } of placed) messages.push(await messageOf(source, row, at));
    return {
      ...pageOf(messages, { skip: start, limit: most }),
      ...shownRange(range),
      ...(hidden.length > 0 && { hidden }),
      ...(missing.length > 0 && { missing }),
    };
  },
});

/** The tables to read, and what this system has not of them. @throws invalidArguments (107) where none is left */
function sourcesFor(call: ToolCall, sought: Sought): { sources: MessageSource[]; missing: string[] } {
  const missing: string[] = [];
  const sources = messageSources.flatMap((source): MessageSource[] => {
    const { table, links, failures } = source;
    const parts: JsonObject[] = [];
    if (sought.failedOnly === true && failures === null) return [];
    if (sought.failedOnly === true && failures) parts.push(failures);
    const ofChannel = channelPart(table, sought.channel);
    if (ofChannel === null) return [];
    if (!call.context.store.schema().tables.has(table)) {
      missing.push(table);
      return [];
    }
    parts.push(ofChannel);
    for (const name of ['accountId', 'conversationId'] as const) {
      const id = sought[name];
      if (id === undefined) continue;
      const field = links[name];
      if (field === undefined) return [];
      if (!hasField(call, table, field, 'Pointer')) {
        missing.push(`${table}.${field}`);
        return [];
      }
      parts.push({ [field]: linkTo(name, field, id) });
    }
    return [{ ...source, where: { $and: parts } }];
  });
  if (sources.length === 0 && missing.length > 0)
    badArguments(`this system has not what messages are found by: ${missing.join(', ')}`, { next: 'Get-Schema' });
  return { sources, missing };
}

function linkTo(name: 'accountId' | 'conversationId', field: string, id: string): JsonObject {
  if (name === 'conversationId') return pointer('Conversations', id);
  // A message belongs to the account of its conversation.
  return field === 'ConversationId' ? conversations({ AccountId: pointer('Accounts', id) }) : pointer('Accounts', id);
}

const conversations = (where: JsonObject): JsonObject => ({ $inQuery: { className: 'Conversations', where } });

/** What a channel is in a table; `null`: nothing. */
function channelPart(table: string, channel: Channel): JsonObject | null {
  if (channel === 'all') return {};
  if (table === 'CallRecords') return channel === 'call' ? {} : null;
  if (table === 'SMS' && channel === 'sms') return {};
  if (table === 'Emails' && channel === 'email') return {};
  if (table !== 'ConversationMessages' || channel === 'call') return null;
  if (channel !== 'chat') return { ConversationId: conversations(ofType({ Code: channel })) };
  const others = conversations(ofType({ Code: { $in: ['whatsapp', 'sms', 'email'] } }));
  return { ConversationId: { $notInQuery: others.$inQuery ?? null } };
}

/** Conversations by the type of their channel. */
const ofType = (where: JsonObject): JsonObject => ({
  ChannelId: { $inQuery: { className: 'Channels', where: { TypeId: { $inQuery: { className: 'ChannelTypes', where } } } } },
});
