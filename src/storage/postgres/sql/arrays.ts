import type { Storage, StoredValue } from '../../../values/types/type.ts';

/** The array type to which a list of values is cast, by the storage of their column. */
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
 * Formats a list as a PostgreSQL array literal, `{"a","b"}`. As a single parameter, it keeps the text of the statement independent of the number of
 * values. Bind it where the statement casts it (`$1::text[]`).
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
