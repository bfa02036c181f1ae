import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { parseIsoDate } from '../../values/index.ts';
import { wireDate as dateOf } from '../../values/json/wire.ts';

export { wirePointer as pointer } from '../../values/json/wire.ts';

/** Returns the id of a Pointer or included record in wire form; `undefined` for anything else. */
export function pointedAt(value: JsonValue | undefined): string | undefined {
  const id = isJsonObject(value) ? own(value, 'objectId') : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Returns a Date in wire form. @param at ISO 8601, in UTC if it names no zone; or milliseconds since 1970 */
export function wireDate(at: string | number): JsonObject {
  const instant = typeof at === 'number' ? at : (parseIsoDate(at) ?? Number.NaN);
  return dateOf(new Date(instant).toISOString());
}

/** Returns the text of a Date in wire form or of a date stored as text (`createdAt`); `undefined` for anything else. */
export function isoOf(value: JsonValue | undefined): string | undefined {
  const iso = isJsonObject(value) ? own(value, 'iso') : value;
  return typeof iso === 'string' ? iso : undefined;
}

/** The same in milliseconds since 1970. */
export function instantOf(value: JsonValue | undefined): number | undefined {
  const iso = isoOf(value);
  return iso === undefined ? undefined : (parseIsoDate(iso) ?? undefined);
}
