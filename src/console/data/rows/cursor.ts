import type { Row } from '../../../crm/queries/records.ts';
import { isoOf } from '../../../crm/wire/values.ts';
import { isStorable, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { parseIsoDate } from '../../../values/index.ts';
import { opaqueText, opaqueValues } from '../wire/cursors.ts';
import { refuse } from '../wire/parameters.ts';
import type { RowOrder, SeekKey } from './order.ts';
import type { Place } from './seek.ts';

/** Where a block begins or ends: at a row, or so many rows from the beginning where they are counted off. */
export type Cursor =
  | { readonly kind: 'place'; readonly place: Place }
  /** A row whose values are too long for an address. */
  | { readonly kind: 'row'; readonly objectId: string }
  | { readonly kind: 'position'; readonly position: number };

/** Characters that the texts of a place may have. */
const MAX_PLACE_LENGTH = 600;
/** Of a cursor: each character of a text may be three bytes, and each byte four thirds of a character. */
export const MAX_CURSOR_LENGTH = 8_000;

/** What a row holds in the fields of an order. */
export const placeOf = (row: JsonObject, keys: readonly SeekKey[]): Place =>
  keys.map(({ name, storage }) => {
    const value = own(row, name);
    if (storage === 'date') return isoOf(value) ?? null;
    return value === undefined || typeof value === 'object' ? null : value;
  });

/** Characters of the texts of a place. */
export const textLength = (place: Place): number =>
  place.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);

/** Where a row is: what it holds, unless that is too long. @param isWhole whether all of the fields were read */
export function cursorOf(row: Row, keys: readonly SeekKey[], isWhole = true): Cursor {
  const place = placeOf(row, keys);
  return isWhole && textLength(place) <= MAX_PLACE_LENGTH ? { kind: 'place', place } : { kind: 'row', objectId: row.objectId };
}

/** As the client has it: opaque. */
export function cursorText(order: RowOrder, cursor: Cursor): string {
  return opaqueText([order.text, partOf(cursor)]);
}

function partOf(cursor: Cursor): JsonValue {
  if (cursor.kind === 'position') return cursor.position;
  return cursor.kind === 'row' ? cursor.objectId : [...cursor.place];
}

/** Reads a cursor that came back. @throws invalidArguments (107) for what is none, or one of another order */
export function readCursor(name: string, text: string, order: RowOrder): Cursor {
  const wrong = () => refuse(name, 'is no cursor of this order');
  if (text.length > MAX_CURSOR_LENGTH) return wrong();
  const [ofOrder, part] = opaqueValues(text) ?? [];
  if (ofOrder !== order.text || part === undefined) return wrong();
  if (!order.keys) {
    return Number.isSafeInteger(part) && (part as number) >= 0 ? { kind: 'position', position: part as number } : wrong();
  }
  if (typeof part === 'string') return isStorable(part) ? { kind: 'row', objectId: part } : wrong();
  if (!Array.isArray(part) || part.length !== order.keys.length) return wrong();
  return order.keys.every((key, at) => isOf(key, part[at] ?? null)) ? { kind: 'place', place: part as Place } : wrong();
}

function isOf({ storage, isRequired }: SeekKey, value: JsonValue): boolean {
  if (value === null) return !isRequired;
  switch (storage) {
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'date':
      return typeof value === 'string' && parseIsoDate(value) !== null;
    case 'text':
      return typeof value === 'string' && isStorable(value);
  }
}
