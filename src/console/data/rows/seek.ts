import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { SeekKey } from './order.ts';

/** What a row holds in the fields of an order, in their order; `null` for nothing. Dates are ISO texts. */
export type Place = readonly (string | number | boolean | null)[];

/**
 * The conditions of what comes after a place: alternatives, each a conjunction that an index answers, that come one after the other. Rows
 * that are like the place in all keys but the last come first. Absent values are first ascending and last descending.
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
