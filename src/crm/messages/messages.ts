import { isJsonObject, type JsonObject, type JsonValue, omitUndefined, own } from '../../kernel/json.ts';
import { plainText } from '../../mail/index.ts';
import type { Source } from '../queries/merged-feed.ts';
import type { Row } from '../queries/records.ts';
import { shortText } from '../wire/short-text.ts';
import { pointedAt, pointer } from '../wire/values.ts';

/** Maximum number of characters of a message and of its error. */
const MAX_TEXT_LENGTH = 500;
/** Maximum number of characters of HTML that is converted to text. */
const MAX_PAGE_LENGTH = 50_000;

/** A table of messages. */
export interface MessageSource extends Source {
  /** Fields by which messages are found; absent if there is none. */
  readonly links: { readonly accountId?: string; readonly conversationId?: string };
  /** Returns the channel-specific part of a message. */
  readonly show: (row: Row) => Promise<JsonObject>;
}

const text = (row: JsonObject, name: string): string | undefined => {
  const value = own(row, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Normalises a direction; values vary by provider and language. */
function directionOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (/^(?:in|נכנס)/i.test(value)) return 'in';
  return /^(?:out|יוצא)/i.test(value) ? 'out' : value;
}

const cut = (value: string | undefined): string | undefined => value && shortText(value, MAX_TEXT_LENGTH);

async function chat(row: Row): Promise<JsonObject> {
  const conversation = own(row, 'ConversationId') ?? null;
  const identity = isJsonObject(conversation) ? text(conversation, 'Identity') : undefined;
  const direction = directionOf(text(row, 'Direction'));
  const failed = row.failed === true;
  const sender = text(row, 'SenderName');
  const errors = Array.isArray(row.errors) && row.errors.length > 0 ? JSON.stringify(row.errors) : undefined;
  return omitUndefined({
    channel: channelOf(conversation) ?? 'chat',
    direction,
    from: sender ?? (direction === 'in' ? identity : undefined),
    to: direction === 'out' ? identity : undefined,
    text: cut(text(row, 'Message')),
    file: isJsonObject(row.File) ? text(row.File, 'name') : undefined,
    status: failed ? 'failed' : row.readAt ? 'read' : row.delivered === true ? 'delivered' : undefined,
    failed,
    error: cut(errors),
    conversationId: pointedAt(conversation),
  });
}

/** Returns the code of the channel type of a conversation. */
function channelOf(conversation: JsonValue): string | undefined {
  const inside = (value: JsonValue | undefined, name: string) => (isJsonObject(value) ? own(value, name) : undefined);
  const code = inside(inside(inside(conversation, 'ChannelId'), 'TypeId'), 'Code');
  return typeof code === 'string' ? code : undefined;
}

async function email(row: Row): Promise<JsonObject> {
  const html = text(row, 'Content');
  const plain = html === undefined ? undefined : (await plainText(html.slice(0, MAX_PAGE_LENGTH))).trim();
  const status = text(row, 'SendStatus');
  return omitUndefined({
    channel: 'email',
    direction: 'out',
    from: text(row, 'MailFrom'),
    to: cut(text(row, 'MailTo')),
    subject: cut(text(row, 'Subject')),
    text: cut(plain),
    status,
    failed: status === 'failed',
    error: cut(text(row, 'ErrorMessage')),
    conversationId: pointedAt(row.ConversationId),
  });
}

async function sms(row: Row): Promise<JsonObject> {
  const status = text(row, 'Status');
  const error = text(row, 'Error');
  return omitUndefined({
    channel: 'sms',
    direction: 'out',
    from: text(row, 'From'),
    to: text(row, 'To'),
    text: cut(text(row, 'Content')),
    status,
    failed: error !== undefined || (status !== undefined && isFailure.test(status)),
    error: cut(error),
  });
}

async function phoneCall(row: Row): Promise<JsonObject> {
  const representative = text(row, 'representative_name');
  return omitUndefined({
    channel: 'call',
    direction: directionOf(text(row, 'type')),
    from: text(row, 'caller'),
    to: text(row, 'destination'),
    ...(representative !== undefined && { representative }),
    text: cut(text(row, 'Summary')),
    duration: typeof row.duration === 'number' ? row.duration : undefined,
    status: text(row, 'status'),
    failed: false,
  });
}

/** Status texts of providers for a message that did not arrive. */
const FAILURE = '^(?:fail|error|undeliv|reject|expired)';
const isFailure = new RegExp(FAILURE, 'i');

const byAccount = { accountId: 'AccountId' };

/** The tables of messages, with the condition for messages that did not arrive. */
export const messageSources: readonly (MessageSource & { readonly failures: JsonObject | null })[] = [
  {
    table: 'ConversationMessages',
    time: 'SentAt',
    where: {},
    links: { accountId: 'ConversationId', conversationId: 'ConversationId' },
    failures: { failed: true },
    keys: [
      ...['ConversationId.Identity', 'ConversationId.ChannelId.TypeId.Code', 'Message', 'Direction', 'SenderName', 'File'],
      ...['delivered', 'readAt', 'failed', 'errors'],
    ],
    show: chat,
  },
  {
    table: 'Emails',
    time: 'SendAt',
    where: {},
    links: { ...byAccount, conversationId: 'ConversationId' },
    failures: { SendStatus: 'failed' },
    keys: ['MailFrom', 'MailTo', 'Subject', 'Content', 'SendStatus', 'ErrorMessage', 'ConversationId'],
    show: email,
  },
  {
    table: 'SMS',
    time: 'SendAt',
    where: {},
    links: byAccount,
    failures: { $or: [{ Status: { $regex: FAILURE, $options: 'i' } }, { Error: { $exists: true, $ne: '' } }] },
    keys: ['From', 'To', 'Content', 'Status', 'Error'],
    show: sms,
  },
  {
    table: 'CallRecords',
    time: 'time',
    where: {},
    links: byAccount,
    failures: null,
    keys: ['caller', 'destination', 'type', 'status', 'representative_name', 'duration', 'Summary'],
    show: phoneCall,
  },
];

/** Returns a message in the form common to all channels, with a Pointer to its record. */
export async function messageOf(source: MessageSource, row: Row, at: string): Promise<JsonObject> {
  return { at, ...(await source.show(row)), record: pointer(source.table, row.objectId) };
}
