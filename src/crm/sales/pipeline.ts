import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { has } from '../queries/field-visibility.ts';
import { namesOf } from '../queries/names.ts';
import { ownerField, userPointer } from '../queries/owners.ts';
import { aggregateRows, requireField, tableNamed } from '../queries/records.ts';
import { hiddenStatuses, type Statuses, statusesOf } from '../queries/statuses.ts';
import { during, rangeIn, rangeToJson, type TimeRange } from '../time/range.ts';
import { dayIn, offsetIn, timeZoneOf } from '../time/time-zone.ts';
import { pointedAt } from '../wire/values.ts';

const TABLE = 'Sales';
const STATUS = 'SaleStatusId';

/** Filter and grouping of sales. */
export interface PipelineQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly ownerId?: string | undefined;
  readonly groupBy: 'status' | 'owner' | 'month' | 'source';
}

/** Sums of sales by group. */
export interface Pipeline {
  /** The request and the sums over all sales. */
  readonly summary: JsonObject;
  readonly groups: readonly JsonObject[];
  /** Tables that the caller may not read. */
  readonly hidden: readonly string[];
}

const pointers = { status: STATUS, owner: 'OwnerId', source: 'LeadSourceId' } as const;

/**
 * Sums up sales by group, split into open, won and lost if the statuses distinguish them.
 * @throws invalidArguments (107) if sales lack a required field in this system; permissionDenied, fieldDenied (119)
 */
export async function pipelineSummary(context: CrmContext, query: PipelineQuery): Promise<Pipeline> {
  const { groupBy } = query;
  const sales = tableNamed(context, TABLE);
  requireField(sales, 'Total', 'Number');
  if (groupBy !== 'month') requireField(sales, pointers[groupBy], 'Pointer');
  const [statuses, zone] = await Promise.all([statusesOf(context, sales, STATUS), timeZoneOf(context)]);
  const range = rangeIn(zone, query);
  const rows = await aggregateRows(context, TABLE, stagesOf(context, sales, query, statuses, zone, range));
  const groups = new Map<string | null, Sums>();
  const all = newSums();
  const stateOf = statesOf(statuses);
  for (const { objectId, count, total } of rows) {
    const { by = null, status } = (objectId ?? {}) as JsonObject;
    const key = groupBy === 'month' ? monthOf(by, zone) : (pointedAt(by) ?? null);
    const sums = groups.get(key) ?? newSums();
    groups.set(key, sums);
    const state = stateOf(pointedAt(status));
    for (const one of [sums, all]) add(one, state, Number(count), Number(total));
  }
  const shown = await shownGroups(context, sales, groups, groupBy, statuses);
  const hidden = hiddenStatuses(statuses);
  return {
    summary: {
      groupBy,
      ...rangeToJson(range),
      ...(groupBy === 'month' && { timeZone: zone }),
      ...shownSums(all, statuses),
    },
    groups: shown,
    hidden,
  };
}

function stagesOf(
  context: CrmContext,
  sales: TableSchema,
  { ownerId, groupBy }: PipelineQuery,
  statuses: Statuses | undefined,
  zone: string,
  range: TimeRange,
): JsonObject[] {
  const at = has(context, sales, 'ClosingDate', 'Date') ? { $ifNull: ['$ClosingDate', '$createdAt'] } : '$createdAt';
  const bounds = during('at', range);
  const isBounded = Object.keys(bounds).length > 0;
  // Some zones are offset by half an hour: their months begin in the middle of a UTC hour.
  const shift = partOfHour(zone);
  const by = groupBy === 'month' ? hourOf(shift === 0 ? '$at' : { $add: ['$at', shift] }) : `$${pointers[groupBy]}`;
  return [
    ...(ownerId === undefined ? [] : [{ $match: { [ownerField(context, sales)]: userPointer(ownerId) } }]),
    ...(isBounded || groupBy === 'month' ? [{ $addFields: { at } }] : []),
    ...(isBounded ? [{ $match: bounds }] : []),
    { $group: { _id: { by, status: statuses ? `$${STATUS}` : null }, count: { $sum: 1 }, total: { $sum: '$Total' } } },
  ];
}

const partOfHour = (zone: string): number => ((offsetIn(zone, Date.now()) % HOUR_MS) + HOUR_MS) % HOUR_MS;

const hourOf = (date: JsonValue): JsonObject => ({
  y: { $year: date },
  m: { $month: date },
  d: { $dayOfMonth: date },
  h: { $hour: date },
});

function monthOf(hour: JsonValue, zone: string): string {
  const { y, m, d, h } = hour as Record<'y' | 'm' | 'd' | 'h', number>;
  return dayIn(zone, Date.UTC(y, m - 1, d, h) - partOfHour(zone)).slice(0, 7);
}

type State = 'open' | 'won' | 'lost';
type Sums = Record<State, { count: number; total: number }>;

const newSums = (): Sums => ({ open: { count: 0, total: 0 }, won: { count: 0, total: 0 }, lost: { count: 0, total: 0 } });

function add(sums: Sums, state: State, count: number, total: number): void {
  sums[state].count += count;
  sums[state].total += total;
}

function statesOf(statuses: Statuses | undefined): (statusId: string | undefined) => State {
  const states = new Map<string, State>();
  for (const { objectId, IsWon, IsLost } of statuses?.rows ?? [])
    if (IsWon === true || IsLost === true) states.set(objectId, IsWon === true ? 'won' : 'lost');
  return (statusId) => (statusId === undefined ? 'open' : (states.get(statusId) ?? 'open'));
}

const rounded = (sum: number): number => Math.round(sum * 100) / 100;

/** Shows the total only if the statuses do not distinguish won and lost. */
function shownSums({ open, won, lost }: Sums, statuses: Statuses | undefined): JsonObject {
  const shown = ({ count, total }: Sums[State]): JsonObject => ({ count, total: rounded(total) });
  const isSplit = statuses?.rows?.some(({ IsWon, IsLost }) => IsWon !== undefined || IsLost !== undefined) === true;
  return {
    count: open.count + won.count + lost.count,
    total: rounded(open.total + won.total + lost.total),
    ...(isSplit && { open: shown(open), won: shown(won), lost: shown(lost) }),
  };
}

/** Returns the groups: months in chronological order, statuses in their own order, others by descending total. */
async function shownGroups(
  context: CrmContext,
  { fields }: TableSchema,
  groups: ReadonlyMap<string | null, Sums>,
  groupBy: PipelineQuery['groupBy'],
  statuses: Statuses | undefined,
): Promise<JsonObject[]> {
  const keys = [...groups.keys()];
  const target = groupBy === 'month' ? undefined : fields.get(pointers[groupBy])?.targetClass;
  const ids = keys.filter((key) => key !== null);
  const names = target === undefined ? new Map<string, string>() : await namesOf(context, target, ids);
  const order = new Map((statuses?.rows ?? []).map(({ objectId }, at) => [objectId, at]));
  const sizeOf = (key: string | null) => Object.values(groups.get(key) ?? newSums()).reduce((sum, { total }) => sum + total, 0);
  const place = (key: string | null) => (key === null ? Number.POSITIVE_INFINITY : (order.get(key) ?? order.size));
  keys.sort((a, b) => {
    if (groupBy === 'month') return String(a) < String(b) ? -1 : 1;
    return (groupBy === 'status' && place(a) - place(b)) || sizeOf(b) - sizeOf(a);
  });
  return keys.map((key) => ({
    ...(groupBy === 'month' ? { month: key } : { objectId: key, ...(key !== null && { Name: names.get(key) || null }) }),
    ...shownSums(groups.get(key) ?? newSums(), groupBy === 'status' ? undefined : statuses),
  }));
}
