import { mayKnowTable } from '../../../access/index.ts';
import { fail } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { FieldType, TableSchema } from '../../../schema/model.ts';
import { rootOf } from '../../../schema/naming.ts';
import { isHidden } from '../../../schema/system-tables.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../answers/refusals.ts';

/** A table of the system, as its schema is now. @throws classMissing (103) where there is none, or it is hidden */
export function tableNamed(call: ToolCall, className: string): TableSchema {
  const table = tableIfAny(call, className);
  return table && !isHidden(className) ? table : fail('classMissing', className);
}

/** The same; `undefined` where there is none. Systems are customised: tables of the template may be gone. */
export const tableIfAny = ({ context }: ToolCall, className: string): TableSchema | undefined =>
  context.store.schema().tables.get(className);

/** The tables that the caller may know of, in the order of the schema. */
export const knownTables = ({ context, principal }: ToolCall): TableSchema[] =>
  [...context.store.schema().tables.values()].filter((table) => mayKnowTable(principal, table));

/** Those of some tables that this system has not. */
export const absentOf = (call: ToolCall, classNames: readonly string[]): string[] =>
  classNames.filter((className) => !tableIfAny(call, className));

/** What a read of a table tells that there is not: it has no records (SPEC "Errors"), which agents would take for an answer. */
export function missingTable(call: ToolCall, className: string): JsonObject {
  if (tableIfAny(call, className)) return {};
  return { hint: `There is no table ${className}: names are case-sensitive. Call Get-Schema with tablesNameOnly.` };
}

/** Whether a table, as this system has it, has a field of the type. */
export const hasField = (call: ToolCall, table: string, name: string, type: FieldType): boolean =>
  tableIfAny(call, table)?.fields.get(name)?.type === type;

/** A field may be gone, or of another type. @throws invalidArguments (107) */
export function requireField({ className, fields }: TableSchema, name: string, type: FieldType): void {
  if (fields.get(name)?.type !== type)
    badArguments(`${className} has no field ${name} of type ${type} in this system`, { next: 'Get-Schema' });
}

/** Those of the names that no field of a table has; of dotted names the first part counts. @throws classMissing (103) */
export function unknownFields(call: ToolCall, table: string, names: Iterable<string>): string[] {
  const { fields } = tableNamed(call, table);
  return [...new Set([...names].map(rootOf))].filter((name) => !fields.has(name));
}

/** Only what a table, as this system has it, has fields for. @throws classMissing (103) */
export function knownFields(call: ToolCall, table: string, data: JsonObject): JsonObject {
  const { fields } = tableNamed(call, table);
  return Object.fromEntries(Object.entries(data).filter(([name]) => fields.has(name)));
}
