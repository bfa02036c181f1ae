import type { JsonObject } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { newestOf } from '../queries/merged-feed.ts';
import { hasField } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { type Ends, rangeOf, type TimeRange } from '../time/range.ts';
import { pointer } from '../wire/values.ts';
import { type MessageSource, messageOf, messageSources } from './messages.ts';

export const channels = ['whatsapp', 'sms', 'email', 'call', 'chat', 'all'] as const;
type Channel = (typeof channels)[number];

/** Filter and page of messages. */
export interface MessageQuery extends Ends {
  readonly accountId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly channel: Channel;
  readonly failedOnly?: boolean | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** Messages of all channels. */
export interface FoundMessages {
  /** Newest first, one more than requested if there are more. */
  readonly messages: readonly JsonObject[];
  readonly range: TimeRange;
  /** Tables that the caller may not see. */
  readonly hidden: readonly string[];
  /** Tables and fields that this system does not have. */
  readonly missing: readonly string[];
}

/**
 * Finds conversations, messages, e-mails, SMS and calls.
 * @throws invalidArguments (107) if this system has no table to search; what `newestOf` throws
 */
export async function findMessages(context: CrmContext, query: MessageQuery): Promise<FoundMessages> {
  const { from, to, limit, skip } = query;
  const { sources, missing } = sourcesFor(context, query);
  const range = await rangeOf(context, { from, to }, true);
  const { placed, hidden } = await newestOf(context, sources, { range, skip, limit });
  const messages: JsonObject[] = [];
  for (const { source, row, at } of placed) messages.push(await messageOf(source, row, at));
  return { messages, range, hidden, missing };
}

/** Returns the tables to read, and what this system lacks of them. @throws invalidArguments (107) if no table is left */
function sourcesFor(context: CrmContext, query: MessageQuery): { sources: MessageSource[]; missing: string[] } {
  const missing: string[] = [];
  const sources = messageSources.flatMap((source): MessageSource[] => {
    const { table, links, failures } = source;
    const parts: JsonObject[] = [];
    if (query.failedOnly === true && failures === null) return [];
    if (query.failedOnly === true && failures) parts.push(failures);
    const ofChannel = channelPart(table, query.channel);
    if (ofChannel === null) return [];
    if (!context.store.schema().tables.has(table)) {
      missing.push(table);
      return [];
    }
    parts.push(ofChannel);
    for (const name of ['accountId', 'conversationId'] as const) {
      const id = query[name];
      if (id === undefined) continue;
      const field = links[name];
      if (field === undefined) return [];
      if (!hasField(context, table, field, 'Pointer')) {
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

/** Returns the condition for a channel in a table; `null` if the table does not hold it. */
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

/** Matches conversations by the type of their channel. */
const ofType = (where: JsonObject): JsonObject => ({
  ChannelId: { $inQuery: { className: 'Channels', where: { TypeId: { $inQuery: { className: 'ChannelTypes', where } } } } },
});
