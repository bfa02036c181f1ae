import type { Row } from '../../../crm/queries/records.ts';
import { isoOf } from '../../../crm/wire/values.ts';
import { isStorable, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { parseIsoDate } from '../../../values/index.ts';
import { opaqueText, opaqueValues } from '../wire/cursors.ts';
import { refuse } from '../wire/parameters.ts';
import type { RowOrder, SeekKey } from './order.ts';
import type { Place } from './seek.ts';

/** Position at which a block begins or ends: a row, or an offset if the order allows no seeking. */
export type Cursor =
  | { readonly kind: 'place'; readonly place: Place }
  /** A row whose values are too long for a URL. */
  | { readonly kind: 'row'; readonly objectId: string }
  | { readonly kind: 'position'; readonly position: number };

/** Maximum total length of a place's strings. */
const MAX_PLACE_LENGTH = 600;
/** Maximum length of an encoded cursor: a character may take three bytes, and each byte four thirds of a character. */
export const MAX_CURSOR_LENGTH = 8_000;

/** Returns a row's values in the fields of an order. */
export const placeOf = (row: JsonObject, keys: readonly SeekKey[]): Place =>
  keys.map(({ name, storage }) => {
    const value = own(row, name);
    if (storage === 'date') return isoOf(value) ?? null;
    return value === undefined || typeof value === 'object' ? null : value;
  });

/** Returns the total length of a place's strings. */
export const textLength = (place: Place): number =>
  place.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);

/** Returns the cursor of a row: its place, or its id if the place is too long. @param isWhole whether all fields of the order were read */
export function cursorOf(row: Row, keys: readonly SeekKey[], isWhole = true): Cursor {
  const place = placeOf(row, keys);
  return isWhole && textLength(place) <= MAX_PLACE_LENGTH ? { kind: 'place', place } : { kind: 'row', objectId: row.objectId };
}

/** Encodes a cursor as an opaque string. */
export function cursorText(order: RowOrder, cursor: Cursor): string {
  return opaqueText([order.text, partOf(cursor)]);
}

function partOf(cursor: Cursor): JsonValue {
  if (cursor.kind === 'position') return cursor.position;
  return cursor.kind === 'row' ? cursor.objectId : [...cursor.place];
}

/** Decodes a cursor. @throws invalidArguments (107) if it is malformed or belongs to another order */
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
