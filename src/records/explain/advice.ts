import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { allOf, anyOf } from '../../query/index.ts';
import type { Query } from '../../query/model/selection.ts';
import type { TableIndex } from '../../schema/model.ts';
import { isSealed } from '../../schema/system-tables.ts';
import type { Reader } from '../../storage/port.ts';
import type { QueryPlan } from '../../storage/query-plan.ts';
import { type Candidate, candidatesFor, conjuncts, isServed, type Sharing, sharedIndexes } from './candidates.ts';
import { type Counts, countUpTo, mainStepOf } from './counts.ts';

/** A body for `PUT schemas/{Table}` that makes the indexes. */
export interface Advice {
  readonly indexes: Readonly<Record<string, JsonObject>>;
}

/** Up to this many records, reading them all takes a few milliseconds: no index is advised. */
const MAX_SMALL = 1_000;
/** Indexes of a table beyond which none is advised: each one slows down every write. */
const MAX_INDEXES = 30;
/** Indexes that the branches of an `$or` may need, those that the table has included: each takes a count. */
const MAX_INDEXES_OF_QUERY = 5;
/** Time after which no further records are counted, in milliseconds: each count has the time limit of a query. */
const MAX_COUNTING_MS = 5 * SECOND_MS;
/** An index helps if at most one in so many records meets its conditions, or, for a page in its order, is read. */
const MIN_RATIO = 10;
/** Cost of a search in an index, in page reads, besides the records that it leads to. */
const COST_OF_SEARCH = 10;

/**
 * Returns the indexes that would help a query; `undefined` if none would, or it reads few records. Reference: explain.md#advice.
 * @param began when the explanation began, by `performance.now()`
 */
export async function adviseIndexes(
  reader: Reader,
  query: Query,
  plan: QueryPlan,
  counts: Counts,
  began: number,
): Promise<Advice | undefined> {
  const { table } = query;
  const { records, rowsRead = records } = counts;
  if (rowsRead <= MAX_SMALL || table.indexes.size >= MAX_INDEXES) return undefined;
  // Nobody may send its schema.
  if (isSealed(table.className)) return undefined;
  // The database has seen that nothing can match, and reads nothing.
  if (!plan.steps.some(({ isMain, kind }) => isMain || kind === 'other')) return undefined;
  const needed = sharedIndexes(candidatesFor(query), MAX_INDEXES_OF_QUERY);
  const wanted = needed?.filter(([candidate]) => !isServed(table, candidate)) ?? [];
  if (!needed || wanted.length === 0) return undefined;
  // Each branch of an `$or` needs its index, or all records are read.
  for (const sharing of needed) {
    if (performance.now() - began > MAX_COUNTING_MS) return undefined;
    if (!(await areOfUse(reader, query, plan, rowsRead, sharing))) return undefined;
  }
  const names = new Set([...table.indexes.keys(), ...table.uniqueIndexes.keys()].map((name) => name.toLowerCase()));
  const indexes = new Map<string, JsonObject>();
  for (const [{ keys }] of wanted) {
    const name = freeName(keys, names);
    names.add(name.toLowerCase());
    indexes.set(name, Object.fromEntries(keys));
  }
  return { indexes: Object.fromEntries(indexes) };
}

/** Whether an index would be used for all branches that share it. */
async function areOfUse(reader: Reader, query: Query, plan: QueryPlan, rowsRead: number, sharing: Sharing): Promise<boolean> {
  const { skip, limit, count } = query;
  const sorts = plan.steps.some(({ kind, isPartial }) => kind === 'sort' && !isPartial);
  // The first records of an index in the order of the query are its page: no others are read.
  const isPage = (candidate: Candidate) => candidate.isOrdered && sorts && !count && (skip + limit) * MIN_RATIO <= rowsRead;
  if (sharing.every(isPage) && (await endsEarly(reader, query, rowsRead, sharing))) return true;
  if (sharing.some(({ conditions }) => conditions.length === 0)) return false;
  const matching = await countUpTo(reader, query, [anyOf(sharing.map(({ conditions }) => allOf(conditions)))]);
  if (matching * MIN_RATIO > rowsRead) return false;
  return sharing.every((candidate) => isPreferred(candidate, query, plan, { matching, sorts }));
}

/** Whether a page in the order of an index is full before many records are read, which conditions that the index does not answer may refuse. */
async function endsEarly(reader: Reader, query: Query, rowsRead: number, sharing: Sharing): Promise<boolean> {
  const { filter, skip, limit } = query;
  const answered = new Set(sharing.flatMap(({ conditions }) => conditions));
  if (conjuncts(filter).every((condition) => answered.has(condition))) return true;
  const led = answered.size === 0 ? rowsRead : await countUpTo(reader, query, [...answered]);
  const matching = await countUpTo(reader, query, [filter]);
  const read = matching <= skip + limit ? led : (led * (skip + limit)) / matching;
  return read * MIN_RATIO <= rowsRead;
}

/** Whether the database would prefer an index that leads to so many records. */
function isPreferred(
  candidate: Candidate,
  { order }: Query,
  plan: QueryPlan,
  { matching, sorts }: { readonly matching: number; readonly sorts: boolean },
): boolean {
  if (plan.cost !== undefined)
    return candidate.isOrdered || plan.cost > costOfIndex(matching, plan.cost, mainStepOf(plan)?.index !== undefined);
  // Without statistics SQLite prefers an order to a range.
  const isRangeAlone = candidate.equal === 0 && !candidate.isOrdered;
  return !isRangeAlone || (order.length > 0 ? sorts : !candidate.isHalfOpen);
}

/**
 * Estimates the cost of reading records by an index, in page reads, as PostgreSQL does for its default settings.
 * @param present the cost of the present plan
 * @param isOrdered whether that plan reads in the order of an index, and so may end early: its cost does not show the size of the table
 */
function costOfIndex(records: number, present: number, isOrdered: boolean): number {
  if (isOrdered) return 2.5 * records + COST_OF_SEARCH;
  const pages = 0.7 * present;
  const read = Math.min(pages, (2 * pages * records) / (2 * pages + records));
  // A page by itself costs 4, a page among all others 1.
  return read * (4 - 3 * Math.sqrt(read / pages)) + 0.02 * records + COST_OF_SEARCH;
}

/** Returns a name that no index of the table has, regardless of case: `byCityAndAge`. */
function freeName(keys: TableIndex['keys'], taken: ReadonlySet<string>): string {
  const fields = keys.map(([name]) => name.charAt(0).toUpperCase() + name.slice(1));
  const wanted = `by${fields.join('And')}`.slice(0, limits.nameLength - 3);
  let name = wanted;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${wanted}${n}`;
  return name;
}
