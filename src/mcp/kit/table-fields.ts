import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { FieldType } from '../../schema/model.ts';
import { rootOf } from '../../schema/naming.ts';
import type { ToolCall } from '../tools/tool.ts';
import { tableNamed } from './records.ts';

/** Whether a table, as this system has it, has a field of the type. */
export function hasField({ context }: ToolCall, table: string, name: string, type: FieldType): boolean {
  return context.store.schema().tables.get(table)?.fields.get(name)?.type === type;
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

/** The names of fields in a `where`, those of its sub-queries left out. */
export function namesIn(where: JsonObject): string[] {
  return Object.entries(where).flatMap(([name, value]) => {
    if (!name.startsWith('$')) return [name];
    return Array.isArray(value) ? value.filter(isJsonObject).flatMap(namesIn) : [];
  });
}

/** The names in a comma list of `order`. */
export const namesInOrder = (order: string): string[] =>
  order
    .split(',')
    .map((name) => name.trim().replace(/^-/, ''))
    .filter((name) => name !== '');
