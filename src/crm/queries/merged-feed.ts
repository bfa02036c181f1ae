import type { JsonObject } from '../../kernel/json.ts';
import { rootOf } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { accessErrors, badArguments, unless } from '../refusals.ts';
import { constraintOf, during, type TimeRange } from '../time/range.ts';
import { isoOf } from '../wire/values.ts';
import { has, visibleFields } from './field-visibility.ts';
import { findRows, oneMore, type Row, rowsWithIds, tableIfAny, tableNamed } from './records.ts';

/** Maximum `skip` of a merged list: each table is read up to there. */
const MAX_SKIPPED = 2_000;

/** A table whose records are merged into a list with those of other tables. */
export interface Source {
  readonly table: string;
  /** The Date field for the order; `createdAt` applies if a record has none or the field is hidden from the caller. */
  readonly time: string;
  readonly where: JsonObject;
  /** Keys to read of the records that are shown. */
  readonly keys: readonly string[];
}

/** A record with its source and time. */
export interface Placed<S extends Source> {
  readonly source: S;
  readonly row: Row;
  /** ISO 8601. */
  readonly at: string;
}

/** A page of the list. */
export interface Part {
  readonly range: TimeRange;
  readonly skip: number;
  readonly limit: number;
}

interface Spot<S extends Source> {
  readonly source: S;
  readonly rank: number;
  readonly objectId: string;
  readonly at: string;
}

/** A page of the list, and the tables that the caller may not see. */
export interface Newest<S extends Source> {
  readonly placed: Placed<S>[];
  readonly hidden: string[];
}

/**
 * Returns the records of several tables, newest first, one more than `limit` if there are more. Records of the same instant are ordered by table,
 * then by
 * id, so that pages are stable. Only the records of the page are read with all keys.
 * @throws invalidArguments (107) for a `skip` beyond `MAX_SKIPPED`; what `findRows` throws if the caller may see none of the tables
 */
export async function newestOf<S extends Source>(context: CrmContext, sources: readonly S[], part: Part): Promise<Newest<S>> {
  if (part.skip > MAX_SKIPPED) badArguments(`skip must be at most ${MAX_SKIPPED}: narrow the list with from and to`);
  const end = part.skip + oneMore(part.limit);
  const spots: Spot<S>[] = [];
  const hidden: string[] = [];
  for (const [rank, source] of sources.entries()) {
    const isLast = hidden.length === sources.length - 1;
    const found = await unless(isLast ? [] : accessErrors, null, () => spotsOf(context, source, rank, part, end));
    if (found) spots.push(...found);
    else hidden.push(source.table);
  }
  spots.sort(newestFirst);
  return { placed: await whole(context, spots.slice(part.skip, end)), hidden };
}

async function spotsOf<S extends Source>(
  context: CrmContext,
  source: S,
  rank: number,
  part: Part,
  limit: number,
): Promise<Spot<S>[]> {
  const spots: Spot<S>[] = [];
  for (const [name, where] of waysOf(context, source, part))
    for (const row of await findRows(context, source.table, { where, keys: [name], order: `-${name}`, limit }))
      spots.push({ source, rank, objectId: row.objectId, at: isoOf(row[name]) ?? String(row.createdAt) });
  return spots;
}

/** Returns one query for records with their own time and one for the rest, each with the field for its order. */
function waysOf(
  context: CrmContext,
  { table, time, where }: Source,
  { range }: Part,
): (readonly [name: string, where: JsonObject])[] {
  const created = during('createdAt', range);
  const known = tableIfAny(context, table);
  if (!known || !has(context, known, time, 'Date')) return [['createdAt', { $and: [where, created] }]];
  return [
    [time, { $and: [where, { [time]: { $exists: true, ...constraintOf(range) } }] }],
    ['createdAt', { $and: [where, { [time]: { $exists: false } }, created] }],
  ];
}

function newestFirst(one: Spot<Source>, other: Spot<Source>): number {
  if (one.at !== other.at) return one.at < other.at ? 1 : -1;
  if (one.rank !== other.rank) return one.rank - other.rank;
  return one.objectId < other.objectId ? -1 : 1;
}

async function whole<S extends Source>(context: CrmContext, spots: readonly Spot<S>[]): Promise<Placed<S>[]> {
  const rows = new Map<S, Map<string, Row>>();
  for (const source of new Set(spots.map((spot) => spot.source))) {
    const ids = spots.filter((spot) => spot.source === source).map(({ objectId }) => objectId);
    const table = tableNamed(context, source.table);
    const keys = ['objectId', ...source.keys.filter((key) => visibleFields(context, table, [rootOf(key)]).length > 0)];
    const found = await rowsWithIds(context, source.table, ids, keys);
    rows.set(source, new Map(found.map((row) => [row.objectId, row])));
  }
  // A record may have been deleted meanwhile.
  return spots.flatMap(({ source, objectId, at }) => {
    const row = rows.get(source)?.get(objectId);
    return row ? [{ source, row, at }] : [];
  });
}
