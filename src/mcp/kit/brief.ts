import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { Ask, Row } from './records.ts';
import { namedPointer, titleFieldsOf } from './titles.ts';
import { seen } from './visible.ts';

/** Characters of a text in a record that is one of many. */
const MOST_CHARACTERS = 1_000;

/** What to read of a table for `briefOf`: those of the fields that it has and the caller sees, with the names of what they point at. */
export function briefly(call: ToolCall, table: TableSchema, names: readonly string[]): Pick<Ask, 'keys' | 'include'> {
  const { tables } = call.context.store.schema();
  const shown = seen(call, table, names);
  const targets = shown.flatMap((name) => {
    const { type, targetClass = '' } = table.fields.get(name) ?? {};
    const target = type === 'Pointer' ? tables.get(targetClass) : undefined;
    return target ? [[name, target] as const] : [];
  });
  const keys = targets.flatMap(([name, target]) => seen(call, target, titleFieldsOf(target)).map((title) => `${name}.${title}`));
  // Without keys a read answers whole records.
  return { keys: ['objectId', ...shown, ...keys], include: targets.map(([name]) => name) };
}

/** A record with these fields alone: Pointers with the names of what they point at, texts cut after `most` characters. */
export function briefOf(row: Row, names: readonly string[], most = MOST_CHARACTERS): JsonObject {
  const shown: JsonObject = { objectId: row.objectId };
  for (const name of names) {
    const value = own(row, name);
    if (value !== undefined && value !== null && value !== '') shown[name] = shortened(namedPointer(value), most);
  }
  return shown;
}

/** The same value, its texts cut. @param most characters of each */
export function shortened(value: JsonValue, most = MOST_CHARACTERS): JsonValue {
  if (typeof value === 'string') return value.length > most ? `${value.slice(0, most).toWellFormed()}…` : value;
  if (Array.isArray(value)) return value.map((inner) => shortened(inner, most));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner, most)]));
}

/** The instant of a Date in wire form, in milliseconds since 1970; `undefined` for anything else. */
export function instantOf(value: JsonValue | undefined): number | undefined {
  const iso = isJsonObject(value) ? own(value, 'iso') : value;
  const at = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
