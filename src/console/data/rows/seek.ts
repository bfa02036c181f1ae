import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { SeekKey } from './order.ts';

/** A row's values in the fields of an order; `null` if absent. Dates are ISO strings. */
export type Place = readonly (string | number | boolean | null)[];

/**
 * Returns the conditions for the rows after a place (keyset pagination), to be read one after another; each is a conjunction that an index can
 * answer. The first are the rows equal in all keys except the last. Absent values come first in ascending order and last in descending order.
 */
export function conditionsAfter(keys: readonly SeekKey[], place: Place): JsonObject[] {
  const conditions: JsonObject[] = [];
  for (let at = keys.length - 1; at >= 0; at--) {
    const same = Object.fromEntries(keys.slice(0, at).map((key, index) => [key.name, equals(key, place[index] ?? null)]));
    const key = keys[at] as SeekKey;
    for (const beyond of beyondOf(key, place[at] ?? null)) conditions.push({ ...same, [key.name]: beyond });
  }
  return conditions;
}

const absent: JsonObject = { $exists: false };

function equals(key: SeekKey, value: Place[number]): JsonObject {
  return value === null ? absent : { $eq: wire(key, value) };
}

function beyondOf(key: SeekKey, value: Place[number]): JsonObject[] {
  if (value === null) return key.isDescending ? [] : [{ $exists: true }];
  if (!key.isDescending) return [{ $gt: wire(key, value) }];
  return [{ $lt: wire(key, value) }, ...(key.isRequired ? [] : [absent])];
}

const wire = ({ storage }: SeekKey, value: string | number | boolean): JsonValue =>
  storage === 'date' ? { __type: 'Date', iso: value } : value;
