import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { accessErrors, badArguments, unless } from '../refusals.ts';
import { pointer } from '../wire/values.ts';
import { queryableFields, visibleFields } from './field-visibility.ts';
import { findRows, getRow, type Row, requireField, tableIfAny } from './records.ts';

/** A row of a status table. */
export interface Status extends Row {
  Name?: string;
  Active?: boolean;
  IsClosed?: boolean;
  IsDone?: boolean;
  IsWon?: boolean;
  IsLost?: boolean;
  SystemKey?: string;
}

/** The possible statuses of the records of a table. */
export interface Statuses {
  /** The Pointer field. */
  readonly field: string;
  /** The target table. */
  readonly className: string;
  /** In display order; `null` if the caller may not read them. */
  readonly rows: readonly Status[] | null;
}

const statusFields = ['Name', 'Active', 'IsClosed', 'IsDone', 'IsWon', 'IsLost', 'SystemKey'];
/** Upper bound; a system usually has about ten. */
const MAX_STATUSES = 500;

/** Returns the statuses of a table by its Pointer field; `undefined` if the field does not exist or is hidden from the caller. */
export async function statusesOf(context: CrmContext, table: TableSchema, field: string): Promise<Statuses | undefined> {
  const { type, targetClass } = table.fields.get(field) ?? {};
  if (type !== 'Pointer' || targetClass === undefined || queryableFields(context, table, [field]).length === 0) return undefined;
  const target = tableIfAny(context, targetClass);
  if (!target) return { field, className: targetClass, rows: [] };
  const keys = ['objectId', ...visibleFields(context, target, statusFields)];
  const [order] = queryableFields(context, target, ['SortOrder']);
  const rows = await unless(accessErrors, null, () => findRows(context, targetClass, { keys, order, limit: MAX_STATUSES }));
  return { field, className: targetClass, rows };
}

/** Whether a status ends the work on a record. */
export const isClosed = ({ IsClosed, IsDone, IsWon, IsLost }: Status): boolean =>
  IsClosed === true || IsDone === true || IsWon === true || IsLost === true;

/** Returns the `where` for open records: without a status, or with one that is not closed. */
export function openOnly(statuses: Statuses | undefined): JsonObject {
  const closed = statuses?.rows?.filter(isClosed) ?? [];
  if (!statuses || closed.length === 0) return {};
  return { [statuses.field]: { $nin: closed.map(({ objectId }) => pointer(statuses.className, objectId)) } };
}

/** Returns the status table if the caller may not read it, so that closed records cannot be distinguished from open ones. */
export const hiddenStatuses = (statuses: Statuses | undefined): string[] =>
  statuses && statuses.rows === null ? [statuses.className] : [];

/** Returns the initial status; `undefined` if there is none or the caller may not read statuses. */
export const firstOpen = (statuses: Statuses | undefined): Status | undefined =>
  statuses?.rows?.find((status) => status.Active !== false && !isClosed(status));

/**
 * Returns the Pointer to a status named by the caller.
 * @throws invalidArguments (107) if the table has no such Pointer field or the status does not exist
 */
export async function statusPointer(
  context: CrmContext,
  table: TableSchema,
  field: string,
  statusId: string,
): Promise<JsonObject> {
  requireField(table, field, 'Pointer');
  const { targetClass = '' } = table.fields.get(field) ?? {};
  const status = await unless(['objectNotFound'], null, () => getRow(context, targetClass, statusId, { keys: ['objectId'] }));
  if (!status)
    badArguments(`statusId: ${targetClass} has no such record`, {
      expected: `The objectId of a record of ${targetClass}`,
      next: 'Get-Lookup-Values',
    });
  return pointer(targetClass, statusId);
}

/** Names of statuses that end work without completing it; no field marks them. */
const cancelled = /בוטל|מבוטל|נדח|cancel|abort|reject/i;

/**
 * Returns the status for completed work: the one marked with `SystemKey` `done` or `IsDone`, else the only closed one whose name does not mean
 * cancelled.
 * @throws invalidArguments (107) if there is none, or several; permissionDenied (119) if the caller may not read statuses
 */
export function doneStatus({ rows, className }: Statuses): Status {
  if (!rows) return fail('permissionDenied', 'find', className);
  const inUse = rows.filter(({ Active }) => Active !== false);
  const marked = inUse.filter(({ SystemKey, IsDone }) => SystemKey === 'done' || IsDone === true);
  const closed = inUse.filter(isClosed);
  const done = marked.length > 0 ? marked : closed.filter(({ Name = '' }) => !cancelled.test(Name));
  const [only] = done;
  if (only && done.length === 1) return only;
  const candidates = (done.length > 0 ? done : closed).map(({ Name, objectId }) => `${Name} (${objectId})`).join(', ');
  return badArguments(
    done.length > 1
      ? `several statuses of ${className} are done: ${candidates}`
      : `no status of ${className} is known to be done`,
    { expected: 'Set StatusId by yourself, or mark the status by SystemKey "done"', next: 'Update-Record' },
  );
}
