import { randomBytes } from 'node:crypto';
import type { StoredValue } from '../../../values/types/type.ts';

type Parse = (text: string) => unknown;

const asNumber: Parse = Number;
const asText: Parse = (text) => text;

/** By the type's oid: bool, int8, int2, int4, oid, float4, float8. */
const parsers = new Map<number, Parse>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [20, asNumber],
  [21, asNumber],
  [23, asNumber],
  [26, asNumber],
  [700, asNumber],
  [701, asNumber],
]);

/** How the text of a column's values is read (`Row`). @param oid the type's */
export function parserOf(oid: number): Parse {
  return parsers.get(oid) ?? asText;
}

/** In place of NUL, which no text of PostgreSQL's holds: nobody can know it, so that no record has a text with it. */
const NOBODYS = `\uffff${randomBytes(16).toString('hex')}\uffff`;

/** The parameters of a statement. A text with NUL is one that no record has: it matches nothing, and an insert fails with it. */
export function boundFor(statement: string, params: readonly StoredValue[]): (string | null)[] {
  const isInsert = statement.startsWith('INSERT');
  return params.map((value) => {
    const text = bound(value);
    return isInsert || text === null || !text.includes('\0') ? text : text.replaceAll('\0', NOBODYS);
  });
}

/** A value as it is bound: text, which PostgreSQL reads as the type that the statement asks for. */
export function bound(value: StoredValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return String(value);
}
