import { authorize, type Grant, refuseOutright, visibilityOf } from '../../access/index.ts';
import type { ClpAction, FieldType, TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { tableNamed } from './records.ts';

/**
 * Returns the caller's rights to a table. Call it before revealing anything about the table.
 * @param objectId the record to be changed, for the error text
 * @throws classMissing (103), and what `authorize` throws
 */
export function grantOn(context: CrmContext, className: string, action: ClpAction, objectId?: string): Grant {
  const table = tableNamed(context, className);
  refuseOutright(context.principal, action, className, objectId);
  return authorize(context.principal, action, table, context.store.schema());
}

/** Fields that are hidden from the caller regardless of the action; some may be visible in records of the caller. */
export const hiddenFields = ({ principal }: CrmContext, table: TableSchema): ReadonlySet<string> =>
  visibilityOf(principal, table).hiddenFields;

/** Returns those of the fields that exist and that the caller may use in a `where` or an order. Does not check the permission to read the table. */
export function queryableFields(context: CrmContext, table: TableSchema, names: Iterable<string>): string[] {
  const hidden = hiddenFields(context, table);
  return [...names].filter((name) => table.fields.has(name) && !hidden.has(name));
}

/** Returns those of the fields that exist and that the caller sees, at least in some records. */
export function visibleFields(context: CrmContext, table: TableSchema, names: Iterable<string>): string[] {
  const { hiddenFields: hidden, reveals } = visibilityOf(context.principal, table);
  return [...names].filter((name) => table.fields.has(name) && (!hidden.has(name) || reveals.has(name)));
}

/** Whether a table has a field of this type that the caller may use in a query. */
export function has(context: CrmContext, table: TableSchema, name: string, type: FieldType): boolean {
  return table.fields.get(name)?.type === type && queryableFields(context, table, [name]).length > 0;
}
