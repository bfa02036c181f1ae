import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { isDescribed } from '../../schema/system-tables.ts';

/** A profile of `template/permissions.json`: the roles that read (find, get), write (create, update, delete) and add fields. */
export interface AccessProfile {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly addField: readonly string[];
  /** A Pointer to `_User`: that user reads, changes and deletes the record, whatever the user's roles. */
  readonly owner?: string;
}

/** A file of `template/tables`, split into its parts. */
export interface TableFile {
  /** As in POST schemas. */
  readonly definition: JsonObject;
  /** By field; those that schema reads show. */
  readonly labels: ReadonlyMap<string, string>;
  /** In wire form, as in the file. */
  readonly rows: readonly JsonObject[];
}

const fileKeys: ReadonlySet<string> = new Set(['access', 'fields', 'timeline', 'indexes', 'rows']);
const fieldKeys: ReadonlySet<string> = new Set(['type', 'targetClass', 'dictionary']);

/**
 * Parses a table's file: `{access, fields, timeline?, indexes?, rows?}`.
 * @param profiles those that `access` may name
 * @throws Error for an unknown key or profile, or if a field that schema reads show has no label
 */
export function readTableFile(className: string, content: JsonObject, profiles: ReadonlyMap<string, AccessProfile>): TableFile {
  refuseUnknownKeys(className, content, fileKeys);
  const { access, fields = {}, rows = [], ...settings } = content;
  const profile = profiles.get(access as string) ?? fault(className, `there is no access ${JSON.stringify(access)}`);
  if (!isJsonObject(fields)) return fault(className, 'fields is not an object');
  if (!Array.isArray(rows) || !rows.every(isJsonObject)) return fault(className, 'rows is not an array of objects');
  const definitions: JsonObject = {};
  const labels = new Map<string, string>();
  for (const name of Object.keys(fields)) {
    const { dictionary, ...definition } = readField(className, name, fields[name] as JsonValue);
    definitions[name] = definition;
    if (isDescribed(className, name)) labels.set(name, dictionary ?? fault(className, `${name} has no dictionary`));
  }
  return { definition: { ...settings, fields: definitions, classLevelPermissions: permissionsOf(profile) }, labels, rows };
}

function readField(className: string, name: string, field: JsonValue): JsonObject & { dictionary?: string } {
  if (!isJsonObject(field)) return fault(className, `${name} is not an object`);
  refuseUnknownKeys(`${className}.${name}`, field, fieldKeys);
  const { dictionary, ...definition } = field;
  if (dictionary === undefined) return definition;
  return typeof dictionary === 'string' && dictionary !== ''
    ? { ...definition, dictionary }
    : fault(className, `the dictionary of ${name} is no text`);
}

/** Returns the class-level permissions of a profile; roles are written `role:<Name>` (permissions.md#table-permissions). */
export function permissionsOf({ read, write, addField, owner }: AccessProfile): JsonObject {
  const [reads, writes] = [grantsOf(read), grantsOf(write)];
  // `writeUserFields` would also let that user add fields.
  const changes = owner === undefined ? writes : { ...writes, pointerFields: [owner] };
  return {
    ...{ find: reads, get: reads, create: writes, update: changes, delete: changes, addField: grantsOf(addField) },
    ...(owner !== undefined && { readUserFields: [owner] }),
  };
}

const grantsOf = (roles: readonly string[]): JsonObject => Object.fromEntries(roles.map((role) => [`role:${role}`, true]));

function refuseUnknownKeys(place: string, object: JsonObject, known: ReadonlySet<string>): void {
  for (const key of Object.keys(object)) if (!known.has(key)) fault(place, `${key} is not a key`);
}

function fault(place: string, what: string): never {
  throw new Error(`template: ${place}: ${what}`);
}
