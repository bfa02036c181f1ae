import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import type { NewField } from './change.ts';
import { type ClassLevelPermissions, clpActions, forbiddenKeys, type Grants } from './model.ts';

type Fields = ReadonlyMap<string, NewField>;

/** Actions that are always shown, with an empty map if the client sent none (schemas.md#schema-record). `count` follows `find` unless it is given. */
export const describedActions = clpActions.filter((action) => action !== 'count');

const actions: ReadonlySet<string> = new Set(clpActions);
const unprotectable: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'ACL']);

/**
 * Parses `classLevelPermissions` of a schema body, which replace all permissions of a table; an action that is not given is for keys only.
 * Reference: permissions.md#table-permissions.
 * @param fields the table's fields, which field lists may name
 * @throws invalidClp (107)
 */
export function readPermissions(body: JsonValue, fields: Fields): ClassLevelPermissions {
  if (!isJsonObject(body)) return fail('invalidClp', 'they must be an object');
  const read: [string, unknown][] = describedActions.map((action) => [action, {}]);
  for (const key of Object.keys(body)) {
    const value = body[key] as JsonValue;
    if (actions.has(key)) read.push([key, readGrants(key, value, fields)]);
    else if (key === 'protectedFields') read.push([key, readProtectedFields(value, fields)]);
    else if (key === 'readUserFields' || key === 'writeUserFields') read.push([key, userFields(key, value, fields)]);
    else fail('invalidClp', `${key} is not a valid operation`);
  }
  return Object.fromEntries(read);
}

function readGrants(action: string, value: JsonValue, fields: Fields): Grants {
  const grants = objectOf(action, value);
  const read = Object.keys(grants).map((entity): [string, true | string[]] => {
    const granted = grants[entity] as JsonValue;
    if (entity === 'pointerFields') return [entity, userFields(`${action}:pointerFields`, granted, fields)];
    checkEntity(action, entity);
    return granted === true ? [entity, true] : fail('invalidClp', `${action}:${entity} must be true`);
  });
  return Object.fromEntries(read);
}

function readProtectedFields(value: JsonValue, fields: Fields): Record<string, string[]> {
  const protectedFields = objectOf('protectedFields', value);
  const read = Object.keys(protectedFields).map((entity): [string, string[]] => {
    checkEntity('protectedFields', entity);
    const names = namesOf(`protectedFields:${entity}`, protectedFields[entity] as JsonValue);
    for (const name of names) {
      if (!fields.has(name)) fail('invalidClp', `field ${name} in protectedFields:${entity} does not exist`);
      if (unprotectable.has(name)) fail('invalidClp', `field ${name} cannot be protected`);
    }
    return [entity, names];
  });
  return Object.fromEntries(read);
}

/** Parses names of fields that hold users: a Pointer to `_User`, or an Array of such Pointers. */
function userFields(place: string, value: JsonValue, fields: Fields): string[] {
  const names = namesOf(place, value);
  for (const name of names) {
    const field = fields.get(name);
    const namesUsers = field?.type === 'Array' || (field?.type === 'Pointer' && field.targetClass === '_User');
    if (!namesUsers) fail('invalidClp', `${place}: ${name} is not a Pointer to _User or an Array`);
  }
  return names;
}

/** Accepts `*`, `requiresAuthentication`, `role:<Name>` or a user id, which may have any form. */
function checkEntity(place: string, entity: string): void {
  if (entity === '' || entity === 'role:' || entity.length > limits.nameLength || forbiddenKeys.has(entity))
    fail('invalidClp', `${entity.slice(0, limits.nameLength)} is not a valid key of ${place}`);
}

const objectOf = (place: string, value: JsonValue): JsonObject =>
  isJsonObject(value) ? value : fail('invalidClp', `${place} must be an object`);

function namesOf(place: string, value: JsonValue): string[] {
  if (!Array.isArray(value)) return fail('invalidClp', `${place} must be an array of field names`);
  return value.map((name) => (typeof name === 'string' ? name : fail('invalidClp', `${place} must be an array of field names`)));
}
