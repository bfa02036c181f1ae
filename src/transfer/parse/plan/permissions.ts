import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import type { NewField } from '../../../schema/change.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import { type ClassLevelPermissions, type ClpAction, clpActions } from '../../../schema/model.ts';
import { readPermissions } from '../../../schema/permissions.ts';
import { isDescribed } from '../../../schema/system-tables.ts';
import type { ParseClass } from '../source/source.ts';

type Fields = ReadonlyMap<string, NewField>;

/** Permissions of a table, and what of the source's they cannot say. They never give more than the source's. */
export interface MappedPermissions {
  readonly permissions: ClassLevelPermissions;
  readonly closed: readonly string[];
}

const everybody: JsonObject = { '*': true };
const userFieldLists = ['readUserFields', 'writeUserFields'] as const;

/** What Parse Server hides of users unless its configuration says otherwise (`protectedFields`), which its database does not tell. */
const hiddenOfUsers = 'email';

/**
 * Class-level permissions as ours. A class without any is open to everybody; of one that has some, an operation that they do not name is
 * for nobody (`SchemaController.js`).
 * @param fields those of the table, once it is made
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

/** The fields of a list that can name users here; of others nobody gets a right. */
function userFields(place: string, given: JsonValue | undefined, fields: Fields, closed: string[]): string[] {
  if (!Array.isArray(given)) return [];
  return given.filter((name): name is string => {
    const field = typeof name === 'string' ? fields.get(name) : undefined;
    const namesUsers = field?.type === 'Array' || (field?.type === 'Pointer' && field.targetClass === '_User');
    if (!namesUsers) closed.push(`${place} for the users in ${JSON.stringify(name).slice(0, 100)}`);
    return namesUsers;
  });
}

/** A field that the table has not is hidden anyway. Lists stay when they are empty: a field is hidden where all lists hide it. */
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

/** Whether new objects get an ACL that is not open to everybody. */
function hasDefaultAcl(acl: JsonValue | undefined): boolean {
  if (!isJsonObject(acl)) return false;
  const all = own(acl, '*');
  return !(isJsonObject(all) && all.read === true && all.write === true);
}
