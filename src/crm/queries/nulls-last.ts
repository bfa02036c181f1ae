import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { queryableFields } from './field-visibility.ts';
import { type Ask, aggregateRows, findRows, type Row } from './records.ts';

/** A query whose order is set by `nullsLast`. */
type Unordered = Omit<Ask, 'order'> & { readonly where: JsonObject; readonly skip: number };

/**
 * Returns records ordered by a field with nulls last (an order alone puts them first); oldest first if the caller may not query the field.
 * @throws what `findRows` throws
 */
export async function nullsLast(context: CrmContext, table: TableSchema, field: string, ask: Unordered): Promise<Row[]> {
  const { className } = table;
  if (queryableFields(context, table, [field]).length === 0) return findRows(context, className, { ...ask, order: OLDEST });
  const part = (isFilled: boolean): JsonObject => ({ $and: [ask.where, { [field]: { $exists: isFilled } }] });
  const filled = await findRows(context, className, { ...ask, where: part(true), order: `${field},${OLDEST}` });
  const left = ask.limit - filled.length;
  if (left <= 0) return filled;
  const before = filled.length > 0 || ask.skip === 0 ? ask.skip + filled.length : await numberOf(context, className, part(true));
  const others = { ...ask, where: part(false), order: OLDEST, skip: Math.max(ask.skip - before, 0), limit: left };
  return [...filled, ...(await findRows(context, className, others))];
}

const OLDEST = 'createdAt,objectId';

/** Counts by aggregation, which needs the permission `find` only; `count` may be denied. */
async function numberOf(context: CrmContext, className: string, where: JsonObject): Promise<number> {
  const [row] = await aggregateRows(context, className, [{ $match: where }, { $group: { _id: null, count: { $sum: 1 } } }]);
  return Number(row?.count ?? 0);
}
