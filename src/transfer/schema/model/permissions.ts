import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { type ClassLevelPermissions, clpActions } from '../../../schema/model.ts';
import { describedActions } from '../../../schema/permissions.ts';
import { byName, sorted } from './snapshot.ts';

/** The keys of class-level permissions, in the order in which they are written. */
export const permissionKeys: readonly string[] = [...clpActions, 'protectedFields', 'readUserFields', 'writeUserFields'];

/** Returns permissions in the one form in which they are compared: all described actions, names sorted. */
export function normalPermissions(permissions: ClassLevelPermissions | JsonObject): JsonObject {
  const given = new Map(Object.entries(permissions as JsonObject));
  const kept = permissionKeys.flatMap((key): [string, JsonValue][] => {
    const value = given.get(key) ?? (describedActions.some((action) => action === key) ? {} : undefined);
    return value === undefined ? [] : [[key, inOrder(value)]];
  });
  return Object.fromEntries(kept);
}

/** The order of names of entities and fields has no meaning. */
function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.every((name) => typeof name === 'string') ? [...value].sort(byName) : value;
  return isJsonObject(value) ? Object.fromEntries(sorted(Object.entries(value)).map(([key, one]) => [key, inOrder(one)])) : value;
}
