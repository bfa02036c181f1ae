import { fail } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';

const maxNames = 2_000;
/** Characters of one list: more than the names of all columns of a table. */
const maxLength = 256 * 1024;
const empty: readonly string[] = [];

/**
 * The names of a comma list, each once; empty ones are passed over. A body may bring an array of names instead.
 * @param parameter its name, for the text of the error
 * @throws badParameterValue (102)
 */
export function splitNames(parameter: string, value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === '') return empty;
  const parts = typeof value === 'string' ? value.split(',', maxNames + 1) : value;
  if (!Array.isArray(parts) || parts.length > maxNames) fail('badParameterValue', parameter, 'should be a comma list of names');
  const names = new Set<string>();
  let length = 0;
  for (const part of parts) {
    if (typeof part !== 'string') fail('badParameterValue', parameter, 'should be a comma list of names');
    length += part.length;
    if (length > maxLength) fail('badParameterValue', parameter, `should have at most ${maxLength} characters`);
    const name = part.trim();
    if (name !== '') names.add(name);
  }
  return [...names];
}

/** What the names say of places below one of them: `a.b,a.c,d` below `a` is `b,c`. */
export function namesBelow(names: readonly string[], name: string): string[] {
  const prefix = `${name}.`;
  return names.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
}
