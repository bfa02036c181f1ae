import { master } from '../../../access/index.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { aggregateRows } from '../reading/records.ts';
import { hasField } from '../reading/tables.ts';

/**
 * The number that follows the highest of a table, of all its records, also those that the caller may not see: he would else give one that is
 * taken. Within `inTurn` no two calls get the same.
 * @returns `undefined` where the table does not number its records so
 */
export async function nextNumber(call: ToolCall, table: string, field = 'Number'): Promise<number | undefined> {
  if (!hasField(call, table, field, 'Number')) return undefined;
  const asService = { ...call, context: { ...call.context, principal: master } };
  const [row] = await aggregateRows(asService, table, [{ $group: { _id: null, last: { $max: `$${field}` } } }]);
  const next = Math.max(0, Math.floor(typeof row?.last === 'number' ? row.last : 0)) + 1;
  return Number.isSafeInteger(next) ? next : undefined;
}
