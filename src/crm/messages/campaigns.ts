import { type JsonObject, type JsonValue, omitUndefined } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { has } from '../queries/field-visibility.ts';
import { absentOf, aggregateRows, getRow, hasField, oneMore, type Row, rowsWithIds, tableNamed } from '../queries/records.ts';
import { accessErrors, unless } from '../refusals.ts';
import { during, rangeOf, type TimeRange } from '../time/range.ts';
import { shortText } from '../wire/short-text.ts';
import { titleIn } from '../wire/titles.ts';
import { isoOf, pointedAt, pointer } from '../wire/values.ts';

/** One row per recipient and campaign. */
export const SENT_LOG = 'CampaignSentLog';
const CAMPAIGNS = 'Campaigns';
/** Maximum number of errors listed per campaign, and of groups of errors read. */
const TOP_ERRORS = 5;
const MAX_ERRORS = 1_000;

/** Results of a message: a Boolean, or a Date with the suffix `At`, records each. */
const outcomes = ['delivered', 'opened', 'clicked', 'failed', 'unsubscribed'] as const;
type Outcome = (typeof outcomes)[number];
/** Rates of these are relative to messages sent; of the others, to messages that arrived. */
const ofSent: ReadonlySet<Outcome> = new Set(['delivered', 'failed']);

/** Filter of campaigns, and whether to include the most frequent errors. */
export interface CampaignQuery {
  readonly campaignId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly errors?: boolean | undefined;
  readonly limit: number;
}

/** Statistics of campaigns. */
export interface CampaignStats {
  /** One per campaign, most recently sent first; one more than requested if there are more. */
  readonly results: readonly JsonObject[];
  readonly range: TimeRange;
  /** Tables and results that the caller may not see. */
  readonly hidden: readonly string[];
  /** Tables that this system does not have. */
  readonly missing: readonly string[];
}

/**
 * Returns the delivery statistics of campaigns.
 * @throws objectNotFound (101) for a campaign that does not exist; permissionDenied, fieldDenied (119)
 */
export async function campaignStats(
  context: CrmContext,
  { campaignId, from, to, errors, limit }: CampaignQuery,
): Promise<CampaignStats> {
  const missing = absentOf(context, [SENT_LOG, CAMPAIGNS]);
  if (missing.includes(SENT_LOG)) return { results: [], range: { isToWithin: false }, hidden: [], missing };
  const range = await rangeOf(context, { from, to }, true);
  const where = {
    ...(campaignId !== undefined && { CampaignId: pointer(CAMPAIGNS, campaignId) }),
    ...during('createdAt', range),
  };
  const log = tableNamed(context, SENT_LOG);
  const signs = signsOf(context, log);
  const shown = [...signs.keys()];
  const rows = limit === 0 ? [] : await countsOf(context, where, signs, oneMore(limit));
  if (rows.length === 0 && campaignId !== undefined) {
    // A wrong id must not look like a campaign without recipients.
    await unless(accessErrors, null, () => getRow(context, CAMPAIGNS, campaignId, { keys: ['objectId'] }));
    rows.push({ objectId: pointer(CAMPAIGNS, campaignId) });
  }
  const ids = rows.flatMap(({ objectId }) => pointedAt(objectId) ?? []);
  const campaigns = await campaignsOf(context, ids);
  const topErrorsOf = errors === true ? await topErrors(context, log, where, ids) : undefined;
  const hidden = [
    ...(campaigns === null ? [CAMPAIGNS] : []),
    ...outcomes.filter((name) => !signs.has(name)),
    ...(topErrorsOf === null ? ['errors'] : []),
  ];
  const results = rows.map((row) => {
    const id = pointedAt(row.objectId);
    return {
      campaign: id === undefined ? null : (campaigns?.get(id) ?? { objectId: id }),
      ...statsOf(row, shown),
      ...(topErrorsOf && { errors: topErrorsOf.get(id ?? '') ?? [] }),
    };
  });
  return { results, range, hidden, missing };
}

type Signs = ReadonlyMap<Outcome, JsonValue[]>;

/** Returns per result the conditions that detect it; results whose fields are all hidden from the caller are left out. */
function signsOf(context: CrmContext, log: TableSchema): Signs {
  const signs = new Map<Outcome, JsonValue[]>();
  for (const name of outcomes) {
    const at = `${name}At`;
    const some = [
      ...(has(context, log, name, 'Boolean') ? [`$${name}`] : []),
      ...(has(context, log, at, 'Date') ? [{ $gt: [`$${at}`, null] }] : []),
    ];
    const isKnown = hasField(context, SENT_LOG, name, 'Boolean') || hasField(context, SENT_LOG, at, 'Date');
    if (some.length > 0 || !isKnown) signs.set(name, some);
  }
  return signs;
}

/** Returns the campaigns with their counts, most recently sent first. */
function countsOf(context: CrmContext, where: JsonObject, signs: Signs, limit: number): Promise<JsonObject[]> {
  const counts = [...signs].map(([name, some]): [string, JsonValue] => [
    name,
    { $sum: some.length === 0 ? { $literal: 0 } : { $cond: [{ $or: some }, 1, 0] } },
  ]);
  const pipeline = [
    { $group: { _id: '$CampaignId', sent: { $sum: 1 }, last: { $max: '$createdAt' }, ...Object.fromEntries(counts) } },
    { $sort: { last: -1 } },
    { $limit: limit },
  ];
  return aggregateRows(context, SENT_LOG, pipeline, where);
}

function statsOf(row: JsonObject, shown: readonly Outcome[]): JsonObject {
  const count = (name: string): number => (typeof row[name] === 'number' ? row[name] : 0);
  const sent = count('sent');
  const lastSent = isoOf(row.last);
  const delivered = count('delivered');
  // Some providers do not report deliveries.
  const reached = delivered > 0 ? delivered : sent;
  const rate = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000);
  return {
    sent,
    ...Object.fromEntries(shown.map((name) => [name, count(name)])),
    rates: Object.fromEntries(shown.map((name) => [name, rate(count(name), ofSent.has(name) ? sent : reached)])),
    ...(lastSent !== undefined && { lastSent }),
  };
}

/** Returns names of campaigns; `null` if the caller may not see them. */
async function campaignsOf(context: CrmContext, ids: readonly string[]): Promise<Map<string, JsonObject> | null> {
  const keys = ['Name', 'Type.Name', 'CampaignStatus.Name'];
  const rows = await unless(accessErrors, null, () => rowsWithIds(context, CAMPAIGNS, ids, keys));
  const shown = ({ objectId, Name, Type, CampaignStatus }: Row): JsonObject =>
    omitUndefined({ objectId, Name, type: titleIn(Type), status: titleIn(CampaignStatus) });
  return rows && new Map(rows.map((row) => [row.objectId, shown(row)]));
}

/** Returns the most frequent errors by campaign; `null` if they are hidden from the caller. */
async function topErrors(
  context: CrmContext,
  log: TableSchema,
  where: JsonObject,
  ids: readonly string[],
): Promise<Map<string, JsonObject[]> | null> {
  const found = new Map<string, JsonObject[]>();
  if (!hasField(context, SENT_LOG, 'Error', 'String')) return found;
  if (!has(context, log, 'Error', 'String')) return null;
  const rows = await aggregateRows(context, SENT_LOG, [
    {
      $match: {
        $and: [where, { CampaignId: { $in: ids.map((id) => pointer(CAMPAIGNS, id)) } }, { Error: { $exists: true, $ne: '' } }],
      },
    },
    { $group: { _id: { campaign: '$CampaignId', error: '$Error' }, count: { $sum: 1 } } },
    { $sort: { count: -1 } },
    { $limit: MAX_ERRORS },
  ]);
  for (const { objectId: key, count = 0 } of rows) {
    const { campaign, error } = key as JsonObject;
    const id = pointedAt(campaign) ?? '';
    const known = found.get(id) ?? [];
    if (known.length < TOP_ERRORS && typeof error === 'string')
      found.set(id, [...known, { error: shortText(error, 300), count }]);
  }
  return found;
}
