import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { queryableFields } from '../queries/field-visibility.ts';
import { findRows, oneMore, type Row, tableIfAny } from '../queries/records.ts';
import { hiddenStatuses, openOnly, statusesOf } from '../queries/statuses.ts';
import { briefly, briefOf } from '../queries/summary.ts';
import { accessErrors, unless } from '../refusals.ts';
import { instantOf, pointer } from '../wire/values.ts';
import { linkField } from './links.ts';

const ACCOUNT = 'Accounts';

/** A list of records that belong to an account. */
interface List {
  readonly table: string;
  readonly fields: readonly string[];
  /** Date field for descending order; `createdAt` if absent. */
  readonly newest?: string;
  /** The status field, if only open records are listed. */
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

/** A part of a card, with the tables that the caller may not see or that this system does not have. */
export interface CardPart {
  /** The newest or the first, one more than requested if there are more. */
  readonly shown?: readonly JsonObject[];
  readonly hidden?: readonly string[];
  readonly missing?: readonly string[];
}

/** Returns a section of an account's card other than its details. */
export function cardPart(
  context: CrmContext,
  section: Exclude<CardSection, 'details'>,
  accountId: string,
  limit: number,
): Promise<CardPart> {
  return section === 'messages' ? messagesPart(context, accountId, limit) : listPart(context, lists[section], accountId, limit);
}

async function listPart(context: CrmContext, list: List, accountId: string, limit: number): Promise<CardPart> {
  const found = await rowsOf(context, list, accountId, limit);
  if (!('rows' in found)) return found;
  const shown = found.rows.map((row) => briefOf(row, list.fields));
  return { shown, hidden: found.hidden };
}

/** Returns messages of all channels, newest first. */
async function messagesPart(context: CrmContext, accountId: string, limit: number): Promise<CardPart> {
  const parts = await Promise.all(messages.map((list) => rowsOf(context, list, accountId, limit)));
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
    shown: all.map(({ shown }) => shown),
    hidden: parts.flatMap(({ hidden = [] }) => hidden),
    missing: parts.flatMap((part) => ('missing' in part ? (part.missing ?? []) : [])),
  };
}

type Rows = { readonly rows: readonly Row[]; readonly hidden: readonly string[] };

async function rowsOf(context: CrmContext, list: List, accountId: string, limit: number): Promise<Rows | CardPart> {
  const table = tableIfAny(context, list.table);
  const field = table && linkField(table, ACCOUNT);
  if (!table || field === undefined) return { missing: [list.table] };
  const rows = await unless(accessErrors, null, () =>
    read(context, table, list, { [field]: pointer(ACCOUNT, accountId) }, limit),
  );
  return rows ?? { hidden: [list.table] };
}

async function read(context: CrmContext, table: TableSchema, list: List, of: JsonObject, limit: number): Promise<Rows> {
  const statuses = list.openBy === undefined ? undefined : await statusesOf(context, table, list.openBy);
  const [newest] = queryableFields(context, table, [...(list.newest === undefined ? [] : [list.newest]), 'createdAt']);
  const names = list.newest === undefined ? list.fields : [...list.fields, list.newest];
  const rows = await findRows(context, list.table, {
    ...briefly(context, table, names),
    where: { ...of, ...openOnly(statuses) },
    order: newest && `-${newest}`,
    limit: oneMore(limit),
  });
  return { rows, hidden: hiddenStatuses(statuses) };
}
