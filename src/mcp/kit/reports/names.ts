import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';

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
