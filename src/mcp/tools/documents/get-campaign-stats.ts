import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { oneMore, pageOf } from '../../kit/page.ts';
import { during } from '../../kit/range.ts';
import { aggregateRows, findRows, getRow, pointedAt, pointer, unless, unseen } from '../../kit/records.ts';
import { shortText } from '../../kit/short-text.ts';
import { hasField } from '../../kit/table-fields.ts';
import { flag, instant, limit, recordId } from '../parameters.ts';
import { defineTool, type ToolCall } from '../tool.ts';

const LOG = 'CampaignSentLog';
const CAMPAIGNS = 'Campaigns';
/** Errors that are told of a campaign, and groups of errors that are looked at. */
const TOP_ERRORS = 5;
const MOST_ERRORS = 1_000;

/** What happens to a message: a Boolean, or the Date of it, says so. */
const outcomes = ['delivered', 'opened', 'clicked', 'failed', 'unsubscribed'] as const;

/** SPEC "Main business tables": one row of `CampaignSentLog` per recipient per campaign. */
export const getCampaignStats = defineTool({
  name: 'Get-Campaign-Stats',
  group: 'documents',
  description: 'Sent, delivered, opened, clicked, failed and unsubscribed per campaign, with top errors.',
  input: {
    campaignId: recordId().optional(),
    from: instant().optional(),
    to: instant().optional(),
    errors: flag().optional(),
    limit: limit(20, 200),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: LOG,
  async run(call, { campaignId, from, to, errors, limit: most }) {
    const where = {
      ...(campaignId !== undefined && { CampaignId: pointer(CAMPAIGNS, campaignId) }),
      ...during('createdAt', from, to),
    };
    const rows = most === 0 ? [] : await countsOf(call, where, oneMore(most));
    if (rows.length === 0 && campaignId !== undefined) {
      // So that a wrong id is not taken for a campaign that nobody was sent.
      await unless(unseen, null, () => getRow(call, CAMPAIGNS, campaignId, { keys: ['objectId'] }));
      rows.push({ objectId: pointer(CAMPAIGNS, campaignId) });
    }
    const ids = rows.flatMap(({ objectId }) => pointedAt(objectId) ?? []);
    const campaigns = await campaignsOf(call, ids);
    const top = errors === true ? await topErrors(call, where, ids) : undefined;
    const results = rows.map((row) => {
      const id = pointedAt(row.objectId);
      return {
        campaign: id === undefined ? null : (campaigns?.get(id) ?? { objectId: id }),
        ...statsOf(row),
        ...(top && { errors: top.get(id ?? '') ?? [] }),
      };
    });
    const { nextSkip, ...page } = pageOf(results, { limit: most });
    return {
      ...page,
      ...(nextSkip !== undefined && {
        truncated: true,
        hint: 'There are more campaigns: raise limit, or narrow with from and to.',
      }),
      ...(campaigns === null && { hidden: [CAMPAIGNS] }),
    };
  },
});

/** The campaigns with their counts, those first that were sent last. */
function countsOf(call: ToolCall, where: JsonObject, most: number): Promise<JsonObject[]> {
  const counts = outcomes.map((name): [string, JsonValue] => {
    const at = `${name}At`;
    const signs: JsonValue[] = [
      ...(hasField(call, LOG, name, 'Boolean') ? [`$${name}`] : []),
      ...(hasField(call, LOG, at, 'Date') ? [{ $gt: [`$${at}`, null] }] : []),
    ];
    return [name, { $sum: signs.length === 0 ? { $literal: 0 } : { $cond: [{ $or: signs }, 1, 0] } }];
  });
  return aggregateRows(call, LOG, [
    { $match: where },
    { $group: { _id: '$CampaignId', sent: { $sum: 1 }, last: { $max: '$createdAt' }, ...Object.fromEntries(counts) } },
    { $sort: { last: -1 } },
    { $limit: most },
  ]);
}

function statsOf(row: JsonObject): JsonObject {
  const count = (name: string): number => (typeof row[name] === 'number' ? row[name] : 0);
  const sent = count('sent');
  const delivered = count('delivered');
  // Some providers do not tell of deliveries.
  const reached = delivered > 0 ? delivered : sent;
  const rate = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000);
  return {
    sent,
    ...Object.fromEntries(outcomes.map((name) => [name, count(name)])),
    rates: {
      delivered: rate(delivered, sent),
      failed: rate(count('failed'), sent),
      opened: rate(count('opened'), reached),
      clicked: rate(count('clicked'), reached),
      unsubscribed: rate(count('unsubscribed'), reached),
    },
    ...(row.last !== undefined && row.last !== null && { lastSent: isoOf(row.last) }),
  };
}

const isoOf = (value: JsonValue): JsonValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value.iso ?? null) : value;

/** What campaigns are called; `null` where the caller may not see them. */
async function campaignsOf(call: ToolCall, ids: readonly string[]): Promise<Map<string, JsonObject> | null> {
  const where = { objectId: { $in: [...ids] } };
  const keys = ['Name', 'Type.Name', 'CampaignStatus.Name'];
  const rows = await unless(unseen, null, () => findRows(call, CAMPAIGNS, { where, keys, limit: ids.length }));
  const nameOf = (value: JsonValue | undefined) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value.Name : undefined;
  return (
    rows &&
    new Map(
      rows.map(({ objectId, Name, Type, CampaignStatus }) => {
        const [type, status] = [nameOf(Type), nameOf(CampaignStatus)];
        return [objectId, { objectId, ...(Name && { Name }), ...(type && { type }), ...(status && { status }) }];
      }),
    )
  );
}

/** The errors that occur most, by campaign. */
async function topErrors(call: ToolCall, where: JsonObject, ids: readonly string[]): Promise<Map<string, JsonObject[]>> {
  const found = new Map<string, JsonObject[]>();
  if (!hasField(call, LOG, 'Error', 'String')) return found;
  const rows = await aggregateRows(call, LOG, [
    {
      $match: {
        $and: [where, { CampaignId: { $in: ids.map((id) => pointer(CAMPAIGNS, id)) } }, { Error: { $exists: true, $ne: '' } }],
      },
    },
    { $group: { _id: { campaign: '$CampaignId', error: '$Error' }, count: { $sum: 1 } } },
    { $sort: { count: -1 } },
    { $limit: MOST_ERRORS },
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
