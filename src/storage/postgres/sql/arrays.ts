import type { Storage, StoredValue } from '../../../values/types/type.ts';

/** The array type that a list of values is cast to, by how they lie in their column. */
export const arrayTypes: Readonly<Record<Storage, string>> = {
  text: 'text[]',
  pointer: 'text[]',
  number: 'float8[]',
  boolean: 'boolean[]',
  date: 'bigint[]',
  json: 'text[]',
  relation: 'text[]',
};

const special = /["\\]/g;

/**
 * A list as PostgreSQL reads arrays, `{"a","b"}`: one parameter, so that the text of a statement does not depend on how many values it has.
 * Bind it where the statement casts it (`$1::text[]`).
 */
export function arrayLiteral(values: readonly StoredValue[]): string {
  let text = '{';
  for (const value of values) {
    if (text.length > 1) text += ',';
    if (value === null) text += 'NULL';
    else if (typeof value === 'string') text += `"${value.replace(special, '\\$&')}"`;
    else text += String(value);
  }
  return `${text}}`;
}
