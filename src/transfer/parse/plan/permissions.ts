import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import type { NewField } from '../../../schema/change.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import { type ClassLevelPermissions, type ClpAction, clpActions } from '../../../schema/model.ts';
import { readPermissions } from '../../../schema/permissions.ts';
import { isDescribed } from '../../../schema/system-tables.ts';
import type { ParseClass } from '../source/source.ts';

type Fields = ReadonlyMap<string, NewField>;

/** Permissions of a table, and those of the source that cannot be expressed. They never grant more than in the source. */
export interface MappedPermissions {
  readonly permissions: ClassLevelPermissions;
  readonly closed: readonly string[];
}

const everybody: JsonObject = { '*': true };
const userFieldLists = ['readUserFields', 'writeUserFields'] as const;

/** Parse Server hides this field of users by default (`protectedFields`); its database does not contain this setting. */
const hiddenOfUsers = 'email';

/**
 * Maps class-level permissions. A class without any is open to everybody; otherwise an operation that they do not name is open to nobody
 * (`SchemaController.js`).
 * @param fields of the table after the migration
 */
export function mapPermissions({ className, permissions }: ParseClass, fields: Fields): MappedPermissions {
  const described = new Map([...defaultFields, ...fields].filter(([name]) => isDescribed(className, name)));
  const closed: string[] = [];
  if (permissions === 'unknown') closed.push(`permissions of ${className} are not known: keys alone reach it`);
  const given =
    typeof permissions === 'string' ? {} : (permissions ?? Object.fromEntries(clpActions.map((action) => [action, everybody])));
  const body: JsonObject = {};
  for (const action of clpActions) body[action] = grantsOf(className, action, own(given, action), described, closed);
  for (const list of userFieldLists) {
    const names = userFields(`${className}.${list}`, own(given, list), described, closed);
    if (names.length > 0) body[list] = names;
  }
  const hidden = protectedFieldsOf(className, own(given, 'protectedFields'), described);
  if (Object.keys(hidden).length > 0) body.protectedFields = hidden;
  if (hasDefaultAcl(own(given, 'ACL'))) {
    body.create = {};
    closed.push(`create of ${className} is for keys alone, since new objects had an ACL of the class`);
  }
  return { permissions: readPermissions(body, described), closed };
}

function grantsOf(
  className: string,
  action: ClpAction,
  given: JsonValue | undefined,
  fields: Fields,
  closed: string[],
): JsonObject {
  const grants: JsonObject = {};
  for (const [entity, granted] of Object.entries(isJsonObject(given) ? given : {})) {
    if (entity === 'pointerFields') {
      const names = userFields(`${className}.${action}`, granted, fields, closed);
      if (names.length > 0) grants.pointerFields = names;
    } else if (granted === true) {
      if (isEntity(entity)) grants[entity] = true;
      else closed.push(`${action} of ${className} for ${JSON.stringify(entity.slice(0, 100))}`);
    }
  }
  return grants;
}

const isEntity = (entity: string): boolean => {
  try {
    readPermissions({ find: { [entity]: true } }, defaultFields);
    return true;
  } catch {
    return false;
  }
};

/** Returns the fields of a list that can name users; other fields grant nothing. */
function userFields(place: string, given: JsonValue | undefined, fields: Fields, closed: string[]): string[] {
  if (!Array.isArray(given)) return [];
  return given.filter((name): name is string => {
    const field = typeof name === 'string' ? fields.get(name) : undefined;
    const namesUsers = field?.type === 'Array' || (field?.type === 'Pointer' && field.targetClass === '_User');
    if (!namesUsers) closed.push(`${place} for the users in ${JSON.stringify(name).slice(0, 100)}`);
    return namesUsers;
  });
}

/**
 * Maps protected fields, dropping fields that the table does not have. Empty lists stay: a field is hidden only if every applicable list hides it.
 */
function protectedFieldsOf(className: string, given: JsonValue | undefined, fields: Fields): JsonObject {
  const lists: JsonObject = {};
  for (const [entity, names] of Object.entries(isJsonObject(given) ? given : {}))
    if (Array.isArray(names) && isEntity(entity))
      lists[entity] = names.filter((name) => typeof name === 'string' && fields.has(name) && !unprotectable.has(name));
  if (className === '_User') {
    const all = own(lists, '*');
    lists['*'] = [...new Set([...(Array.isArray(all) ? all : []), hiddenOfUsers])];
  }
  return lists;
}

const unprotectable: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'ACL']);

/** Whether new objects get a restricted ACL. */
function hasDefaultAcl(acl: JsonValue | undefined): boolean {
  if (!isJsonObject(acl)) return false;
  const all = own(acl, '*');
  return !(isJsonObject(all) && all.read === true && all.write === true);
}
