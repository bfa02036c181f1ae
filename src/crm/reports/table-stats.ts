import type { JsonValue } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { aggregateRows } from '../queries/records.ts';
import { accumulatorOf } from './metrics.ts';

/** Fields counted by one aggregation, which takes a limited number of parts. */
const BATCH_SIZE = 100;

/** Returns the number of records that the caller may find, and the time of the last change. */
export async function sizeOf(context: CrmContext, { className }: TableSchema): Promise<{ rows: number; lastChange: JsonValue }> {
  const group = { _id: null, rows: { $sum: 1 }, updatedAt: { $max: '$updatedAt' } };
  const [row] = await aggregateRows(context, className, [{ $group: group }]);
  return { rows: typeof row?.rows === 'number' ? row.rows : 0, lastChange: row?.updatedAt ?? null };
}

/**
 * Returns the share of records that have a value, by field, from 0 to 1 with three decimals.
 * @param fields that the caller may see
 * @param rows number of records
 */
export async function fillRates(
  context: CrmContext,
  table: TableSchema,
  fields: readonly string[],
  rows: number,
): Promise<Record<string, number>> {
  const rates: [string, number][] = [];
  const counted = fields.filter((name) => isCounted(table, name));
  for (let at = 0; at < counted.length; at += BATCH_SIZE) {
    const some = counted.slice(at, at + BATCH_SIZE);
    const sums = some.map((field, index) => [`f${index}`, accumulatorOf({ op: 'count', field })]);
    const [row = {}] = await aggregateRows(context, table.className, [{ $group: { _id: null, ...Object.fromEntries(sums) } }]);
    for (const [index, name] of some.entries()) rates.push([name, rate(row[`f${index}`], rows)]);
  }
  return Object.fromEntries(rates);
}

/** Default fields are filled in every record, and a Relation has no value of its own. */
function isCounted({ fields }: TableSchema, name: string): boolean {
  const type = fields.get(name)?.type;
  return type !== undefined && type !== 'Relation' && !isDefaultField(name);
}

function rate(filled: JsonValue | undefined, rows: number): number {
  if (typeof filled !== 'number' || rows === 0) return 0;
  const share = Math.round((filled / rows) * 1_000) / 1_000;
  // A field with few values must be distinguishable from an unused one.
  return share === 0 && filled > 0 ? 0.001 : share;
}
