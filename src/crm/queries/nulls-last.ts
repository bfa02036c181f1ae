import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { askable } from './field-visibility.ts';
import { type Ask, aggregateRows, findRows, type Row } from './records.ts';

/** What to read, with the order left to `filledFirst`. */
type Unordered = Omit<Ask, 'order'> & { readonly where: JsonObject; readonly skip: number };

/**
 * Records ordered by a field, those without it last (an order alone has them first); the oldest first where the caller may not ask about it.
 * @throws what `findRows` throws
 */
export async function filledFirst(context: CrmContext, table: TableSchema, field: string, ask: Unordered): Promise<Row[]> {
  const { className } = table;
  if (askable(context, table, [field]).length === 0) return findRows(context, className, { ...ask, order: OLDEST });
  const part = (isFilled: boolean): JsonObject => ({ $and: [ask.where, { [field]: { $exists: isFilled } }] });
  const filled = await findRows(context, className, { ...ask, where: part(true), order: `${field},${OLDEST}` });
  const left = ask.limit - filled.length;
  if (left <= 0) return filled;
  const before = filled.length > 0 || ask.skip === 0 ? ask.skip + filled.length : await numberOf(context, className, part(true));
  const others = { ...ask, where: part(false), order: OLDEST, skip: Math.max(ask.skip - before, 0), limit: left };
  return [...filled, ...(await findRows(context, className, others))];
}

const OLDEST = 'createdAt,objectId';

/** Who may find may have it counted so, though `count` be kept from him. */
async function numberOf(context: CrmContext, className: string, where: JsonObject): Promise<number> {
  const [row] = await aggregateRows(context, className, [{ $match: where }, { $group: { _id: null, count: { $sum: 1 } } }]);
  return Number(row?.count ?? 0);
}
