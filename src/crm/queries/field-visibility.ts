import { authorize, type Grant, refuseOutright, visibilityOf } from '../../access/index.ts';
import type { ClpAction, FieldType, TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { tableNamed } from './records.ts';

/**
 * What the caller may do with a table: asked before anything is told of it.
 * @param objectId the record that is to be changed, for the text of the refusal
 * @throws classMissing (103), and what `authorize` throws
 */
export function grantOn(context: CrmContext, className: string, action: ClpAction, objectId?: string): Grant {
  const table = tableNamed(context, className);
  refuseOutright(context.principal, action, className, objectId);
  return authorize(context.principal, action, table, context.store.schema());
}

/** Those that do not exist for the caller, whatever he may do with the table; he may see some in records that are his. */
export const hiddenFields = ({ principal }: CrmContext, table: TableSchema): ReadonlySet<string> =>
  visibilityOf(principal, table).hiddenFields;

/** Those of the fields that a table has and that the caller may ask about, in a `where` or an order. Whether he may read the table is not asked. */
export function askable(context: CrmContext, table: TableSchema, names: Iterable<string>): string[] {
  const hidden = hiddenFields(context, table);
  return [...names].filter((name) => table.fields.has(name) && !hidden.has(name));
}

/** Those of the fields that a table has and that the caller sees, if only in some records. */
export function seen(context: CrmContext, table: TableSchema, names: Iterable<string>): string[] {
  const { hiddenFields: hidden, reveals } = visibilityOf(context.principal, table);
  return [...names].filter((name) => table.fields.has(name) && (!hidden.has(name) || reveals.has(name)));
}

/** Whether a table has a field of a type that the caller may ask about. */
export function has(context: CrmContext, table: TableSchema, name: string, type: FieldType): boolean {
  return table.fields.get(name)?.type === type && askable(context, table, [name]).length > 0;
}
