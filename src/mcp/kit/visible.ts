import { grantFor } from '../../access/index.ts';
import type { FieldType, TableSchema } from '../../schema/model.ts';
import type { ToolCall } from '../tools/tool.ts';
import { badArguments } from './records.ts';

/** Those of the fields that a table has and that the caller may ask about, in a `where` or an order. Whether he may read the table is not asked. */
export function askable({ principal }: ToolCall, table: TableSchema, names: Iterable<string>): string[] {
  const hidden = grantFor(principal, 'find', table)?.hiddenFields;
  return [...names].filter((name) => table.fields.has(name) && !hidden?.has(name));
}

/** Those of the fields that a table has and that the caller sees, if only in some records. */
export function seen({ principal }: ToolCall, table: TableSchema, names: Iterable<string>): string[] {
  const grant = grantFor(principal, 'find', table);
  return [...names].filter((name) => table.fields.has(name) && (!grant?.hiddenFields.has(name) || grant.reveals.has(name)));
}

/** Whether a table has a field of a type that the caller may ask about. */
export function has(call: ToolCall, table: TableSchema, name: string, type: FieldType): boolean {
  return table.fields.get(name)?.type === type && askable(call, table, [name]).length > 0;
}

/** Systems are customised: a field may be gone, or of another type. @throws invalidArguments (107) */
export function requireField({ className, fields }: TableSchema, name: string, type: FieldType): void {
  if (fields.get(name)?.type !== type)
    badArguments(`${className} has no field ${name} of type ${type} in this system`, { next: 'Get-Schema' });
}
