import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { badArguments, unless, unseen } from '../refusals.ts';
import { pointer } from '../wire/values.ts';
import { askable, seen } from './field-visibility.ts';
import { findRows, getRow, type Row, requireField, tableIfAny } from './records.ts';

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
const MAX_STATUSES = 500;

/** The statuses of a table by its Pointer field; `undefined` where it has no such field, or it is hidden from the caller. */
export async function statusesOf(context: CrmContext, table: TableSchema, field: string): Promise<Statuses | undefined> {
  const { type, targetClass } = table.fields.get(field) ?? {};
  if (type !== 'Pointer' || targetClass === undefined || askable(context, table, [field]).length === 0) return undefined;
  const target = tableIfAny(context, targetClass);
  if (!target) return { field, className: targetClass, rows: [] };
  const keys = ['objectId', ...seen(context, target, told)];
  const [order] = askable(context, target, ['SortOrder']);
  const rows = await unless(unseen, null, () => findRows(context, targetClass, { keys, order, limit: MAX_STATUSES }));
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

/** What a status that ends work without doing it is called; the tables have no field that says so. */
const cancelled = /בוטל|מבוטל|נדח|cancel|abort|reject/i;

/**
 * The status of what is done: the one marked so (`SystemKey` `done`, `IsDone`), else the one that is closed and is not called cancelled.
 * @throws invalidArguments (107) where there is none, or several; permissionDenied (119) where the caller may not read them
 */
export function doneStatus({ rows, className }: Statuses): Status {
  if (!rows) return fail('permissionDenied', 'find', className);
  const inUse = rows.filter(({ Active }) => Active !== false);
  const marked = inUse.filter(({ SystemKey, IsDone }) => SystemKey === 'done' || IsDone === true);
  const closed = inUse.filter(isClosed);
  const told = marked.length > 0 ? marked : closed.filter(({ Name = '' }) => !cancelled.test(Name));
  const [only] = told;
  if (only && told.length === 1) return only;
  const candidates = (told.length > 0 ? told : closed).map(({ Name, objectId }) => `${Name} (${objectId})`).join(', ');
  return badArguments(
    told.length > 1
      ? `several statuses of ${className} are done: ${candidates}`
      : `no status of ${className} is known to be done`,
    { expected: 'Set StatusId by yourself, or mark the status by SystemKey "done"', next: 'Update-Record' },
  );
}
