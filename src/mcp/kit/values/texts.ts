import { isJsonObject, type JsonValue } from '../../../kernel/json.ts';

/** A value with each of its texts changed. @param change told of the key that the text stands under */
export function mapTexts(value: JsonValue, change: (text: string, key: string) => string, key = ''): JsonValue {
  if (typeof value === 'string') return change(value, key);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, key));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, JsonValue] => [name, mapTexts(inner, change, name)]);
  return Object.fromEntries(entries);
}
