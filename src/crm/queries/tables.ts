import { mayKnowTable } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type FieldType, rootOf, type TableSchema } from '../../schema/model.ts';
import { isHidden } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { badArguments } from '../refusals.ts';

/** A table of the system, as its schema is now. @throws classMissing (103) where there is none, or it is hidden */
export function tableNamed(context: CrmContext, className: string): TableSchema {
  const table = tableIfAny(context, className);
  return table && !isHidden(className) ? table : fail('classMissing', className);
}

/** The same; `undefined` where there is none. Systems are customised: tables of the template may be gone. */
export const tableIfAny = (context: CrmContext, className: string): TableSchema | undefined =>
  context.store.schema().tables.get(className);

/** The tables that the caller may know of, in the order of the schema. */
export const knownTables = ({ store, principal }: CrmContext): TableSchema[] =>
  [...store.schema().tables.values()].filter((table) => mayKnowTable(principal, table));

/** Those of some tables that this system has not. */
export const absentOf = (context: CrmContext, classNames: readonly string[]): string[] =>
  classNames.filter((className) => !tableIfAny(context, className));

/** What a read of a table tells that there is not: it has no records (SPEC "Errors"), which agents would take for an answer. */
export function noTable(className: string): JsonObject {
  return { hint: `There is no table ${className}: names are case-sensitive. Call Get-Schema with tablesNameOnly.` };
}

/** Whether a table, as this system has it, has a field of the type. */
export const hasField = (context: CrmContext, table: string, name: string, type: FieldType): boolean =>
  tableIfAny(context, table)?.fields.get(name)?.type === type;

/** A field may be gone, or of another type. @throws invalidArguments (107) */
export function requireField({ className, fields }: TableSchema, name: string, type: FieldType): void {
  if (fields.get(name)?.type !== type)
    badArguments(`${className} has no field ${name} of type ${type} in this system`, { next: 'Get-Schema' });
}

/** Those of the names that no field of a table has; of dotted names the first part counts. @throws classMissing (103) */
export function unknownFields(context: CrmContext, table: string, names: Iterable<string>): string[] {
  const { fields } = tableNamed(context, table);
  return [...new Set([...names].map(rootOf))].filter((name) => !fields.has(name));
}

/** Only what a table, as this system has it, has fields for. @throws classMissing (103) */
export function knownFields(context: CrmContext, table: string, data: JsonObject): JsonObject {
  const { fields } = tableNamed(context, table);
  return Object.fromEntries(Object.entries(data).filter(([name]) => fields.has(name)));
}
