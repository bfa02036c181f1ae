import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';

/**
 * Returns the text of a value in wire form (triggers.md#templates).
 * @param value `undefined` if absent
 */
export function valueText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  return isJsonObject(value) ? (wrapped(value) ?? JSON.stringify(value)) : JSON.stringify(value);
}

/** Returns `null` for an ordinary Object, and for an incomplete wrapper. */
function wrapped(value: JsonObject): string | null {
  const text = (key: string): string | null => {
    const found = own(value, key);
    return typeof found === 'string' ? found : null;
  };
  switch (own(value, '__type')) {
    case 'Date':
      return text('iso');
    case 'Pointer':
    case 'Object':
      return text('objectId');
    case 'File':
      return text('url') ?? text('name');
    case 'Relation':
      return '';
    default:
      return null;
  }
}
