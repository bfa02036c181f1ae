import { randomBytes } from 'node:crypto';
import type { StoredValue } from '../../../values/types/type.ts';

/** Parses a column's text value. */
export type Parse = (text: string) => unknown;

const asNumber: Parse = Number;
const asText: Parse = (text) => text;

/** By type oid: bool, int8, int2, int4, oid, float4, float8. */
const parsers = new Map<number, Parse>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [20, asNumber],
  [21, asNumber],
  [23, asNumber],
  [26, asNumber],
  [700, asNumber],
  [701, asNumber],
]);

/** Returns the function that parses a column's text values (`Row`). @param oid oid of the column's type */
export function parserOf(oid: number): Parse {
  return parsers.get(oid) ?? asText;
}

/** Replaces NUL, which PostgreSQL text cannot contain. Random and unknown to clients, so no record contains it. */
const NUL_REPLACEMENT = `\uffff${randomBytes(16).toString('hex')}\uffff`;

/**
 * Returns the parameters of a statement in text form. A text with NUL is replaced so that it matches no record; in an INSERT it is kept, and
 * PostgreSQL rejects it.
 */
export function bindParams(statement: string, params: readonly StoredValue[]): (string | null)[] {
  const isInsert = statement.startsWith('INSERT');
  return params.map((value) => {
    const text = bindText(value);
    return isInsert || text === null || !text.includes('\0') ? text : text.replaceAll('\0', NUL_REPLACEMENT);
  });
}

/** Returns a value in text form, which PostgreSQL converts to the type of the parameter. */
export function bindText(value: StoredValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return String(value);
}
