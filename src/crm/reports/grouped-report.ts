import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { queryableFields } from '../queries/field-visibility.ts';
import { withPointerNames } from '../queries/names.ts';
import { aggregateRows, hasField, tableNamed } from '../queries/records.ts';
import { COUNT, type Report } from './saved-report.ts';

/**
 * Runs a grouped report: one row per group with its count and the sums of numeric columns. Without an order, the largest groups come first.
 * @throws what `aggregateRows` throws
 */
export async function runGroups(context: CrmContext, report: Report, { skip, limit }: { skip: number; limit: number }) {
  const { table, where, groupBy } = report;
  if (limit === 0) return { results: [], hidden: [] };
  const numbers = report.keys.filter((key) => hasField(context, table, key, 'Number') && !groupBy.includes(key));
  const sums = queryableFields(context, tableNamed(context, table), numbers);
  // Generated names, since a field may have any name.
  const key = Object.fromEntries(groupBy.map((name, at) => [`g${at}`, `$${name}`]));
  const totals = Object.fromEntries(sums.map((name, at) => [`s${at}`, { $sum: `$${name}` }]));
  const pipeline = [
    { $group: { _id: key, n: { $sum: 1 }, ...totals } },
    { $sort: sortOf(report, sums) },
    ...(skip > 0 ? [{ $skip: skip }] : []),
    { $limit: limit },
  ];
  const rows = await aggregateRows(context, table, pipeline, where);
  const results = rows.map((row): JsonObject => {
    const of = isJsonObject(row.objectId) ? row.objectId : {};
    return {
      group: Object.fromEntries(groupBy.map((name, at) => [name, of[`g${at}`] ?? null])),
      count: row.n ?? 0,
      ...(sums.length > 0 && { sums: Object.fromEntries(sums.map((name, at) => [name, row[`s${at}`] ?? 0])) }),
    };
  });
  return { results: await named(context, results), hidden: numbers.filter((name) => !sums.includes(name)) };
}

function sortOf({ order = '', groupBy }: Report, sums: readonly string[]): JsonObject {
  const columns = new Map([
    [COUNT, 'n'],
    ...groupBy.map((name, at) => [name, `objectId.g${at}`] as const),
    ...sums.map((name, at) => [name, `s${at}`] as const),
  ]);
  const keys = order.split(',').flatMap((part): [string, number][] => {
    const name = part.trim();
    const column = columns.get(name.replace(/^-/, ''));
    return column === undefined ? [] : [[column, name.startsWith('-') ? -1 : 1]];
  });
  return Object.fromEntries(keys.length > 0 ? keys : [['n', -1]]);
}

/** Adds names to the Pointers of the groups. */
async function named(context: CrmContext, results: readonly JsonObject[]): Promise<JsonObject[]> {
  const groups = results.map(({ group }) => Object.entries(group as JsonObject));
  const values = await withPointerNames(
    context,
    groups.flatMap((group) => group.map(([, value]) => value)),
  );
  const rest = values.values();
  return results.map((row, at) => ({
    ...row,
    group: Object.fromEntries((groups[at] ?? []).map(([name]) => [name, rest.next().value as JsonValue])),
  }));
}
