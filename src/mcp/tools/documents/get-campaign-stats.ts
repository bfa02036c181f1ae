import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { flag, limit, localTime, recordId } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { headOf, oneMore } from '../../kit/answers/page.ts';
import { unless, unseen } from '../../kit/answers/refusals.ts';
import { shortText } from '../../kit/answers/short-text.ts';
import { withoutAbsent } from '../../kit/answers/without-absent.ts';
import { aggregateRows, getRow, type Row, rowsWithIds } from '../../kit/reading/records.ts';
import { absentOf, hasField, tableNamed } from '../../kit/reading/tables.ts';
import { has } from '../../kit/reading/visible.ts';
import { during, rangeOf, shownRange } from '../../kit/time/range.ts';
import { titleIn } from '../../kit/values/titles.ts';
import { isoOf, pointedAt, pointer } from '../../kit/values/wire.ts';

const LOG = 'CampaignSentLog';
const CAMPAIGNS = 'Campaigns';
/** Errors that are told of a campaign, and groups of errors that are looked at. */
const TOP_ERRORS = 5;
const MOST_ERRORS = 1_000;

/** What happens to a message: a Boolean, or the Date of it, says so. */
const outcomes = ['delivered', 'opened', 'clicked', 'failed', 'unsubscribed'] as const;
type Outcome = (typeof outcomes)[number];
/** The others are rates of those that were reached. */
const ofSent: ReadonlySet<Outcome> = new Set(['delivered', 'failed']);

/** SPEC "Main business tables": one row of `CampaignSentLog` per recipient per campaign. */
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
  about: LOG,
  listedBy: 'Get-Data on Campaigns',
  async run(call, { campaignId, from, to, errors, limit: most }) {
    const missing = absentOf(call, [LOG, CAMPAIGNS]);
    if (missing.includes(LOG)) return { results: [], missing, hint: `Without ${LOG} nothing is known of what was sent.` };
    const range = await rangeOf(call, { from, to }, true);
    const where = {
      ...(campaignId !== undefined && { CampaignId: pointer(CAMPAIGNS, campaignId) }),
      ...during('createdAt', range),
    };
    const log = tableNamed(call, LOG);
    const signs = signsOf(call, log);
    const told = [...signs.keys()];
    const rows = most === 0 ? [] : await countsOf(call, where, signs, oneMore(most));
    if (rows.length === 0 && campaignId !== undefined) {
      // So that a wrong id is not taken for a campaign that nobody was sent.
      await unless(unseen, null, () => getRow(call, CAMPAIGNS, campaignId, { keys: ['objectId'] }));
      rows.push({ objectId: pointer(CAMPAIGNS, campaignId) });
    }
    const ids = rows.flatMap(({ objectId }) => pointedAt(objectId) ?? []);
    const campaigns = await campaignsOf(call, ids);
    const top = errors === true ? await topErrors(call, log, where, ids) : undefined;
    const hidden = [
      ...(campaigns === null ? [CAMPAIGNS] : []),
      ...outcomes.filter((name) => !signs.has(name)),
      ...(top === null ? ['errors'] : []),
    ];
    const results = rows.map((row) => {
      const id = pointedAt(row.objectId);
      return {
        campaign: id === undefined ? null : (campaigns?.get(id) ?? { objectId: id }),
        ...statsOf(row, told),
        ...(top && { errors: top.get(id ?? '') ?? [] }),
      };
    });
    const page = headOf(results, most, 'There are more campaigns: raise limit, or narrow with from and to.');
    return {
      ...page,
      ...shownRange(range),
      ...(hidden.length > 0 && { hidden }),
      ...(missing.length > 0 && { missing }),
    };
  },
});

type Signs = ReadonlyMap<Outcome, JsonValue[]>;

/** What says of each outcome that it came about; those whose fields are all hidden from the caller are left out. */
function signsOf(call: ToolCall, log: TableSchema): Signs {
  const signs = new Map<Outcome, JsonValue[]>();
  for (const name of outcomes) {
    const at = `${name}At`;
    const some = [
      ...(has(call, log, name, 'Boolean') ? [`$${name}`] : []),
      ...(has(call, log, at, 'Date') ? [{ $gt: [`$${at}`, null] }] : []),
    ];
    const isKnown = hasField(call, LOG, name, 'Boolean') || hasField(call, LOG, at, 'Date');
    if (some.length > 0 || !isKnown) signs.set(name, some);
  }
  return signs;
}

/** The campaigns with their counts, those first that were sent last. */
function countsOf(call: ToolCall, where: JsonObject, signs: Signs, most: number): Promise<JsonObject[]> {
  const counts = [...signs].map(([name, some]): [string, JsonValue] => [
    name,
    { $sum: some.length === 0 ? { $literal: 0 } : { $cond: [{ $or: some }, 1, 0] } },
  ]);
  const pipeline = [
    { $group: { _id: '$CampaignId', sent: { $sum: 1 }, last: { $max: '$createdAt' }, ...Object.fromEntries(counts) } },
    { $sort: { last: -1 } },
    { $limit: most },
  ];
  return aggregateRows(call, LOG, pipeline, where);
}

function statsOf(row: JsonObject, told: readonly Outcome[]): JsonObject {
  const count = (name: string): number => (typeof row[name] === 'number' ? row[name] : 0);
  const sent = count('sent');
  const lastSent = isoOf(row.last);
  const delivered = count('delivered');
  // Some providers do not tell of deliveries.
  const reached = delivered > 0 ? delivered : sent;
  const rate = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000);
  return {
    sent,
    ...Object.fromEntries(told.map((name) => [name, count(name)])),
    rates: Object.fromEntries(told.map((name) => [name, rate(count(name), ofSent.has(name) ? sent : reached)])),
    ...(lastSent !== undefined && { lastSent }),
  };
}

/** What campaigns are called; `null` where the caller may not see them. */
async function campaignsOf(call: ToolCall, ids: readonly string[]): Promise<Map<string, JsonObject> | null> {
  const keys = ['Name', 'Type.Name', 'CampaignStatus.Name'];
  const rows = await unless(unseen, null, () => rowsWithIds(call, CAMPAIGNS, ids, keys));
  const shown = ({ objectId, Name, Type, CampaignStatus }: Row): JsonObject =>
    withoutAbsent({ objectId, Name, type: titleIn(Type), status: titleIn(CampaignStatus) });
  return rows && new Map(rows.map((row) => [row.objectId, shown(row)]));
}

/** The errors that occur most, by campaign; `null` where they are hidden from the caller. */
async function topErrors(
  call: ToolCall,
  log: TableSchema,
  where: JsonObject,
  ids: readonly string[],
): Promise<Map<string, JsonObject[]> | null> {
  const found = new Map<string, JsonObject[]>();
  if (!hasField(call, LOG, 'Error', 'String')) return found;
  if (!has(call, log, 'Error', 'String')) return null;
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
