import { isJsonObject, type JsonValue } from '../../../kernel/json.ts';

/** Columns of a line; longer values are spread over several. */
const MAX_COLUMNS = 150;
/** Levels that are always spread, so that a change of one member is a change of one line. */
const SPREAD_LEVELS = 2;

/** Returns JSON text as people keep it in a repository: one member a line at the outer levels, two spaces a level, a newline at the end. */
export function formatJson(value: JsonValue): string {
  return `${lines(value, 0, 0)}\n`;
}

/** @param used columns that stand before the value on its line */
function lines(value: JsonValue, level: number, used: number): string {
  const flat = inline(value);
  const members = Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
  if (members === 0 || (level >= SPREAD_LEVELS && 2 * level + used + flat.length < MAX_COLUMNS)) return flat;
  const indent = '  '.repeat(level + 1);
  const end = `\n${'  '.repeat(level)}`;
  if (Array.isArray(value)) {
    const items = value.map((one) => `${indent}${lines(one, level + 1, 0)}`);
    return `[\n${items.join(',\n')}${end}]`;
  }
  const entries = Object.entries(value as object).map(([key, one]) => {
    const name = `${JSON.stringify(key)}: `;
    return `${indent}${name}${lines(one, level + 1, name.length)}`;
  });
  return `{\n${entries.join(',\n')}${end}}`;
}

function inline(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${inline(one)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
