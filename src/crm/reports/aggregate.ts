import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { named, namesOf } from '../queries/names.ts';
import { aggregateRows } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { timeZoneOf } from '../time/time-zone.ts';
import { instantOf, pointedAt } from '../wire/values.ts';
import { bucketSteps, type DateBucket, nameOfBucket, offsetsBetween, type ZoneOffsets } from './date-buckets.ts';
import { accumulatorOf, type Metric } from './metrics.ts';

/** A field to group by. */
export interface GroupField {
  readonly name: string;
  /** For a Date that is grouped into buckets. */
  readonly bucket?: DateBucket;
  /** For a Pointer. */
  readonly targetClass?: string;
}

/** An aggregation. */
export interface Aggregation {
  readonly table: TableSchema;
  readonly groups: readonly GroupField[];
  readonly metrics: readonly Metric[];
  readonly where?: JsonObject | undefined;
  readonly having?: JsonObject | undefined;
  readonly order?: string | undefined;
  /** Maximum number of rows; all if absent. */
  readonly limit: number | undefined;
}

/** Maximum number of offset changes in a pipeline; each takes several of its thousand parts. */
const MAX_JUMPS = 90;

/** Returns the fields to group by. @throws invalidArguments (107) for a field that does not exist or is named twice */
export function readGroups(table: TableSchema, names: readonly string[], bucket: DateBucket | undefined): GroupField[] {
  const groups = names.map((name): GroupField => {
    const [root = ''] = name.split('.', 1);
    const field = table.fields.get(root);
    if (!field) badArguments(`groupBy: ${table.className} has no field ${root.slice(0, 100)}`, { next: 'Get-Schema' });
    if (bucket && field.type === 'Date' && root === name) return { name, bucket };
    return field.type === 'Pointer' && field.targetClass !== undefined ? { name, targetClass: field.targetClass } : { name };
  });
  if (new Set(names).size < names.length) badArguments('groupBy names a field twice');
  if (bucket && !groups.some((group) => group.bucket))
    badArguments('dateBucket needs a Date field in groupBy', { next: 'Get-Schema' });
  return groups;
}

/** Executes an aggregation in the store. @returns one row per group: its fields by name, then its metrics */
export async function aggregate(context: CrmContext, request: Aggregation): Promise<{ rows: JsonObject[]; timeZone?: string }> {
  const { table, groups, metrics, where, having, limit } = request;
  const zone = groups.some(({ bucket }) => bucket) ? await timeZoneOf(context) : undefined;
  const offsets = zone === undefined ? [] : await offsetsOf(context, request, zone);
  const keys = groups.map(({ name, bucket }, at) => [`g${at}`, bucket ? `$${computed(at)}` : `$${name}`]);
  const pipeline: JsonObject[] = [
    ...bucketStages(groups, offsets),
    {
      $group: {
        _id: keys.length === 0 ? null : Object.fromEntries(keys),
        ...Object.fromEntries(metrics.map((metric) => [metric.name, accumulatorOf(metric)])),
      },
    },
    ...(having ? [{ $match: having }] : []),
    ...sortOf(request),
    ...(limit === undefined ? [] : [{ $limit: limit }]),
  ];
  const found = await aggregateRows(context, table.className, pipeline, where);
  const rows = found.map((row) => rowOf(row, request));
  await namePointers(context, rows, groups);
  return { rows, ...(zone !== undefined && { timeZone: zone }) };
}

/** A name that no field has. */
const computed = (at: number): string => `_bucket${at}`;

function bucketStages(groups: readonly GroupField[], offsets: readonly (ZoneOffsets | null)[]): JsonObject[] {
  const steps = groups.map(({ name, bucket }, at) =>
    bucket ? bucketSteps(bucket, name, offsets[at] ?? { base: 0, jumps: [] }, `$${computed(at)}`) : [],
  );
  const most = Math.max(...steps.map(({ length }) => length), 0);
  return Array.from({ length: most }, (_, step) => ({
    $addFields: Object.fromEntries(
      steps.flatMap((own, at): [string, JsonValue][] => {
        const expression = own[step];
        return expression === undefined ? [] : [[computed(at), expression]];
      }),
    ),
  }));
}

/** Returns the zone offsets for each bucketed field, over the time span of its values. */
async function offsetsOf(
  context: CrmContext,
  { table, groups, where }: Aggregation,
  zone: string,
): Promise<(ZoneOffsets | null)[]> {
  if (zone === 'UTC') return [];
  const spans = groups.flatMap(({ name, bucket }, at): [string, JsonObject][] =>
    bucket
      ? [
          [`from${at}`, { $min: `$${name}` }],
          [`to${at}`, { $max: `$${name}` }],
        ]
      : [],
  );
  const group = { $group: { _id: null, ...Object.fromEntries(spans) } };
  const [row = {}] = await aggregateRows(context, table.className, [group], where);
  const most = Math.floor(MAX_JUMPS / (spans.length / 2));
  return groups.map(({ bucket }, at) => {
    const [from, to] = [instantOf(row[`from${at}`]), instantOf(row[`to${at}`])];
    return bucket && from !== undefined && to !== undefined ? offsetsBetween(zone, from, to, most) : null;
  });
}

/** Returns the `$sort` stage. @throws invalidArguments (107) for a name that is neither a field of groupBy nor a metric */
function sortOf({ order, groups, metrics }: Aggregation): JsonObject[] {
  if (order === undefined) return [];
  const places = new Map<string, string>(metrics.map(({ name }) => [name, name]));
  for (const [at, { name }] of groups.entries()) places.set(name, `objectId.g${at}`);
  const keys = order.split(',').map((given): [string, number] => {
    const isDown = given.trim().startsWith('-');
    const name = given.trim().replace(/^-/, '');
    const place = places.get(name);
    if (place === undefined)
      badArguments(`order: ${name.slice(0, 100)} is neither a field of groupBy nor a metric`, {
        expected: `One of ${[...places.keys()].join(', ')}; - before it for descending`,
      });
    return [place, isDown ? -1 : 1];
  });
  return [{ $sort: Object.fromEntries(keys) }];
}

function rowOf(row: JsonObject, { groups, metrics }: Aggregation): JsonObject {
  const key = isJsonObject(row.objectId) ? row.objectId : {};
  const ofGroups = groups.map(({ name, bucket }, at): [string, JsonValue] => {
    const value = key[`g${at}`];
    return [name, bucket ? nameOfBucket(bucket, value) : (value ?? null)];
  });
  return Object.fromEntries([...ofGroups, ...metrics.map(({ name }): [string, JsonValue] => [name, row[name] ?? null])]);
}

/** Replaces Pointers by `{objectId, Name}`, without a name if the caller may not see the record. */
async function namePointers(context: CrmContext, rows: readonly JsonObject[], groups: readonly GroupField[]): Promise<void> {
  for (const { name, targetClass } of groups) {
    if (targetClass === undefined) continue;
    const ids = rows.flatMap((row) => pointedAt(row[name]) ?? []);
    const names = await namesOf(context, targetClass, ids);
    for (const row of rows) {
      const id = pointedAt(row[name]);
      if (id !== undefined) row[name] = named(id, names);
    }
  }
}
