import type { JsonObject } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { badArguments, unless, unseen } from '../answers/refusals.ts';
import { findRows, getRow, type Row } from '../reading/records.ts';
import { requireField, tableIfAny } from '../reading/tables.ts';
import { askable, seen } from '../reading/visible.ts';
import { pointer } from '../values/wire.ts';

/** A row of a table of statuses, with what it says of itself. */
export interface Status extends Row {
  Name?: string;
  Active?: boolean;
  IsClosed?: boolean;
  IsDone?: boolean;
  IsWon?: boolean;
  IsLost?: boolean;
  SystemKey?: string;
}

/** The statuses that records of a table can be in. */
export interface Statuses {
  /** The Pointer field of the table. */
  readonly field: string;
  /** The table that it points at. */
  readonly className: string;
  /** In the order in which they are shown; `null` where the caller may not read them. */
  readonly rows: readonly Status[] | null;
}

const told = ['Name', 'Active', 'IsClosed', 'IsDone', 'IsWon', 'IsLost', 'SystemKey'];
/** A system has some ten. */
const MOST = 500;

/** The statuses of a table by its Pointer field; `undefined` where it has no such field, or it is hidden from the caller. */
export async function statusesOf(call: ToolCall, table: TableSchema, field: string): Promise<Statuses | undefined> {
  const { type, targetClass } = table.fields.get(field) ?? {};
  if (type !== 'Pointer' || targetClass === undefined || askable(call, table, [field]).length === 0) return undefined;
  const target = tableIfAny(call, targetClass);
  if (!target) return { field, className: targetClass, rows: [] };
  const keys = ['objectId', ...seen(call, target, told)];
  const [order] = askable(call, target, ['SortOrder']);
  const rows = await unless(unseen, null, () => findRows(call, targetClass, { keys, order, limit: MOST }));
  return { field, className: targetClass, rows };
}

/** Whether a record in a status needs nobody's work any more. */
export const isClosed = ({ IsClosed, IsDone, IsWon, IsLost }: Status): boolean =>
  IsClosed === true || IsDone === true || IsWon === true || IsLost === true;

/** What a record that is still open has to meet: no status, or one that is not closed. */
export function openOnly(statuses: Statuses | undefined): JsonObject {
  const closed = statuses?.rows?.filter(isClosed) ?? [];
  if (!statuses || closed.length === 0) return {};
  return { [statuses.field]: { $nin: closed.map(({ objectId }) => pointer(statuses.className, objectId)) } };
}

/** The table of statuses, where the caller may not read it, so that closed records cannot be told from open ones. */
export const hiddenStatuses = (statuses: Statuses | undefined): string[] =>
  statuses && statuses.rows === null ? [statuses.className] : [];

/** The first status of records that nobody has begun with; `undefined` where there is none, or the caller may not read them. */
export const firstOpen = (statuses: Statuses | undefined): Status | undefined =>
  statuses?.rows?.find((status) => status.Active !== false && !isClosed(status));

/**
 * A Pointer to a status that a caller has named.
 * @throws invalidArguments (107) where the table has no such Pointer field, or there is no such status
 */
export async function statusPointer(call: ToolCall, table: TableSchema, field: string, statusId: string): Promise<JsonObject> {
  requireField(table, field, 'Pointer');
  const { targetClass = '' } = table.fields.get(field) ?? {};
  const status = await unless(['objectNotFound'], null, () => getRow(call, targetClass, statusId, { keys: ['objectId'] }));
  if (!status)
    badArguments(`statusId: ${targetClass} has no such record`, {
      expected: `The objectId of a record of ${targetClass}`,
      next: 'Get-Lookup-Values',
    });
  return pointer(targetClass, statusId);
}
