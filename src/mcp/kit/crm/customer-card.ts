import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { oneMore, pageOf, RESULT_BYTES } from '../answers/page.ts';
import { unless, unseen } from '../answers/refusals.ts';
import { briefly, briefOf } from '../reading/brief.ts';
import { findRows, type Row } from '../reading/records.ts';
import { tableIfAny } from '../reading/tables.ts';
import { askable } from '../reading/visible.ts';
import { instantOf, pointer } from '../values/wire.ts';
import { linkField } from './links.ts';
import { hiddenStatuses, openOnly, statusesOf } from './statuses.ts';

const ACCOUNT = 'Accounts';

/** A list of records of an account. */
interface List {
  readonly table: string;
  readonly fields: readonly string[];
  /** By which the newest come first. */
  readonly newest?: string;
  /** The field of the status, where open records alone are wanted. */
  readonly openBy?: string;
}

const lists = {
  contacts: {
    table: 'Contacts',
    fields: ['FirstName', 'LastName', 'RelationTypeId', 'JobTitle', 'PhoneNumber', 'Mobile', 'Email', 'IsPrimary'],
  },
  sales: {
    table: 'Sales',
    fields: ['Name', 'Total', 'SaleStatusId', 'ClosingDate', 'OwnerId'],
    openBy: 'SaleStatusId',
  },
  tasks: { table: 'Tasks', fields: ['Name', 'Date', 'StatusId', 'OwnerId', 'Important'], openBy: 'StatusId' },
  cases: { table: 'Cases', fields: ['Name', 'Number', 'StatusId', 'PriorityId', 'OwnerId'], openBy: 'StatusId' },
  activities: {
    table: 'Activities',
    fields: ['Name', 'StartTime', 'EndTime', 'Location', 'OwnerId', 'Cancelled'],
    newest: 'StartTime',
  },
  notes: { table: 'Notes', fields: ['Name', 'Comment', 'createdAt', 'createdBy'] },
} as const satisfies Record<string, List>;

const messages: readonly (List & { readonly channel: string; readonly newest: string })[] = [
  { channel: 'email', table: 'Emails', fields: ['Subject', 'MailFrom', 'MailTo', 'SendStatus'], newest: 'SendAt' },
  { channel: 'sms', table: 'SMS', fields: ['From', 'To', 'Content', 'Status'], newest: 'SendAt' },
  {
    channel: 'conversation',
    table: 'Conversations',
    fields: ['Identity', 'ChannelId', 'StatusId', 'LastMessage'],
    newest: 'LastMessageAt',
  },
  {
    channel: 'call',
    table: 'CallRecords',
    fields: ['caller', 'destination', 'type', 'status', 'duration', 'representative_name'],
    newest: 'time',
  },
];

type ListName = keyof typeof lists;
export const cardSections = ['details', ...(Object.keys(lists) as ListName[]), 'messages'] as const;
export type CardSection = (typeof cardSections)[number];

/** A part of a card, and the tables of it that the caller may not see, or that this system has not. */
export interface CardPart {
  readonly shown?: JsonObject;
  readonly hidden?: readonly string[];
  readonly missing?: readonly string[];
}

/** What each part may take of an answer, beside the details. */
const PART_BYTES = Math.floor((RESULT_BYTES - 18_000) / (cardSections.length - 1));

/** A part of an account's card, beside its details. */
export function cardPart(
  call: ToolCall,
  section: Exclude<CardSection, 'details'>,
  accountId: string,
  limit: number,
): Promise<CardPart> {
  return section === 'messages' ? messagesPart(call, accountId, limit) : listPart(call, lists[section], accountId, limit);
}

async function listPart(call: ToolCall, list: List, accountId: string, limit: number): Promise<CardPart> {
  const found = await rowsOf(call, list, accountId, limit);
  if (!('rows' in found)) return found;
  const shown = found.rows.map((row) => briefOf(row, list.fields));
  return { shown: listed(shown, limit), hidden: found.hidden };
}

/** What was sent and said, by whatever channel, the newest first. */
async function messagesPart(call: ToolCall, accountId: string, limit: number): Promise<CardPart> {
  const parts = await Promise.all(messages.map((list) => rowsOf(call, list, accountId, limit)));
  const all = parts.flatMap((part, at) => {
    const list = messages[at];
    if (!list || !('rows' in part)) return [];
    return part.rows.map((row) => {
      const sent = instantOf(row[list.newest]) ?? instantOf(row.createdAt) ?? 0;
      const { objectId = null, ...shown } = briefOf(row, list.fields);
      return { sent, shown: { channel: list.channel, table: list.table, objectId, at: new Date(sent).toISOString(), ...shown } };
    });
  });
  all.sort((a, b) => b.sent - a.sent);
  return {
    shown: listed(
      all.map(({ shown }) => shown),
      limit,
    ),
    hidden: parts.flatMap(({ hidden = [] }) => hidden),
    missing: parts.flatMap((part) => ('missing' in part ? (part.missing ?? []) : [])),
  };
}

function listed(rows: readonly JsonValue[], limit: number): JsonObject {
  const { results, nextSkip, truncated } = pageOf(rows, { limit }, PART_BYTES);
  return { results, ...((nextSkip !== undefined || truncated) && { more: true }) };
}

type Rows = { readonly rows: readonly Row[]; readonly hidden: readonly string[] };

async function rowsOf(call: ToolCall, list: List, accountId: string, limit: number): Promise<Rows | CardPart> {
  const table = tableIfAny(call, list.table);
  const field = table && linkField(table, ACCOUNT);
  if (!table || field === undefined) return { missing: [list.table] };
  const rows = await unless(unseen, null, () => read(call, table, list, { [field]: pointer(ACCOUNT, accountId) }, limit));
  return rows ?? { hidden: [list.table] };
}

async function read(call: ToolCall, table: TableSchema, list: List, of: JsonObject, limit: number): Promise<Rows> {
  const statuses = list.openBy === undefined ? undefined : await statusesOf(call, table, list.openBy);
  const [newest] = askable(call, table, [...(list.newest === undefined ? [] : [list.newest]), 'createdAt']);
  const names = list.newest === undefined ? list.fields : [...list.fields, list.newest];
  const rows = await findRows(call, list.table, {
    ...briefly(call, table, names),
    where: { ...of, ...openOnly(statuses) },
    order: newest && `-${newest}`,
    limit: oneMore(limit),
  });
  return { rows, hidden: hiddenStatuses(statuses) };
}
