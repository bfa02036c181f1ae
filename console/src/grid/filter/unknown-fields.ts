import type { JsonObject, JsonValue } from '../../../../src/kernel/json.ts';
import { isJsonObject } from './json.ts';

/** Operators that combine conditions. */
const JOINTS: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);

/**
 * Returns the names in a `where` that are not fields visible to the user, each once. Only the first part of a dotted name counts.
 * @param known names of fields
 */
export function unknownFields(where: JsonObject, known: ReadonlySet<string>): readonly string[] {
  const found = Object.entries(where).flatMap(([name, value]): readonly string[] => {
    if (JOINTS.has(name)) return branchesOf(value).flatMap((branch) => unknownFields(branch, known));
    return name.startsWith('$') || isKnown(name, known) ? [] : [name];
  });
  return [...new Set(found)];
}

/** Returns a `where` without the conditions on some fields; branches that become empty are removed too. */
export function withoutFields(where: JsonObject, names: readonly string[]): JsonObject {
  const kept = Object.entries(where).flatMap(([name, value]): [string, JsonValue][] => {
    if (!JOINTS.has(name)) return names.includes(name) ? [] : [[name, value]];
    if (!Array.isArray(value)) return [[name, value]];
    const branches = value.map((branch) => (isJsonObject(branch) ? withoutFields(branch, names) : branch));
    const left = branches.filter((branch) => !isJsonObject(branch) || Object.keys(branch).length > 0);
    return left.length > 0 ? [[name, left]] : [];
  });
  return Object.fromEntries(kept);
}

const branchesOf = (value: JsonValue) => (Array.isArray(value) ? value.filter(isJsonObject) : []);

/** Returns whether a name is a field, or a dotted path into one. */
export const isKnown = (name: string, known: ReadonlySet<string>): boolean => known.has(name.split('.', 1)[0] as string);
