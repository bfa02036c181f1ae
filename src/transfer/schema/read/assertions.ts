import { isJsonObject, isStorable, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { similarTo } from '../../../kernel/similar.ts';
import { SnapshotFault } from '../model/snapshot.ts';

/** A place in a snapshot: the keys that lead to it. */
export type Place = readonly string[];

export function refuse(place: Place, why: string): never {
  throw new SnapshotFault(place, why);
}

/** @throws SnapshotFault */
export function objectAt(value: JsonValue | undefined, place: Place): JsonObject {
  return isJsonObject(value) ? value : refuse(place, 'is not an object');
}

/** Returns an object that has no other keys than the known ones. @throws SnapshotFault */
export function knownObjectAt(value: JsonValue | undefined, place: Place, known: readonly string[]): JsonObject {
  const object = objectAt(value, place);
  for (const key of Object.keys(object)) {
    if (known.includes(key)) continue;
    const nearest = similarTo(key, known);
    refuse([...place, key], `is not a key${nearest === undefined ? '' : `; is ${nearest} meant?`}`);
  }
  return object;
}

/** @throws SnapshotFault */
export function textAt(object: JsonObject, key: string, place: Place): string {
  const value = own(object, key);
  return typeof value === 'string' && isStorable(value) ? value : refuse([...place, key], 'is not a text');
}

/** Returns a text; `undefined` if there is none. @throws SnapshotFault */
export function optionalTextAt(object: JsonObject, key: string, place: Place): string | undefined {
  const value = own(object, key);
  return value === undefined || value === null ? undefined : textAt(object, key, place);
}

/** Returns a Boolean; false if there is none. @throws SnapshotFault */
export function booleanAt(object: JsonObject, key: string, place: Place): boolean {
  const value = own(object, key) ?? false;
  return typeof value === 'boolean' ? value : refuse([...place, key], 'is neither true nor false');
}

/** Returns a list; empty if there is none. @throws SnapshotFault */
export function listAt(object: JsonObject, key: string, place: Place, max: number): JsonValue[] {
  const value = own(object, key) ?? [];
  if (!Array.isArray(value)) return refuse([...place, key], 'is not a list');
  return value.length <= max ? value : refuse([...place, key], `has more than ${max.toLocaleString('en')} items`);
}

/** Returns a list of texts; empty if there is none. @throws SnapshotFault */
export function textsAt(object: JsonObject, key: string, place: Place, max: number): string[] {
  return listAt(object, key, place, max).map((value, index) =>
    typeof value === 'string' ? value : refuse([...place, key, String(index)], 'is not a text'),
  );
}

/** Returns the entries of an object. @param max how many there may be. @throws SnapshotFault */
export function entriesAt(value: JsonValue | undefined, place: Place, max: number): [string, JsonValue][] {
  const entries = Object.entries(objectAt(value, place));
  return entries.length <= max ? entries : refuse(place, `has more than ${max.toLocaleString('en')} entries`);
}
