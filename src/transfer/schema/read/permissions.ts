import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { isHidden } from '../../../schema/system-tables.ts';
import { type AccessProfile, permissionsOf } from '../../../systems/index.ts';
import { normalPermissions, permissionKeys } from '../model/permissions.ts';
import { entriesAt, knownObjectAt, type Place, refuse, textsAt } from './assertions.ts';
import { MAX_TABLES } from './limits.ts';

const profileKeys = ['read', 'write', 'addField', 'owner'] as const;
const MAX_NAMES = 10_000;

/** Permissions by table, and profiles by the name that `access` of a table has, as in `template/permissions.json`. */
export interface ReadPermissions {
  readonly tables: ReadonlyMap<string, JsonObject>;
  readonly profiles: ReadonlyMap<string, JsonObject>;
}

/** Parses permissions. What of their content is wrong is found when they are applied. @throws SnapshotFault */
export function readPermissions(value: JsonValue, place: Place): ReadPermissions {
  const tables = new Map<string, JsonObject>();
  const profiles = new Map<string, JsonObject>();
  for (const [name, body] of entriesAt(value, place, MAX_TABLES)) {
    const at = [...place, name];
    if (isProfile(body)) profiles.set(name, normalPermissions(permissionsOf(readProfile(body, at))));
    else if (!isHidden(name)) tables.set(name, normalPermissions(knownObjectAt(body, at, permissionKeys)));
  }
  return { tables, profiles };
}

/** A profile lists roles; an action maps them. */
const isProfile = (body: JsonValue): boolean => isJsonObject(body) && Array.isArray(own(body, 'read'));

function readProfile(value: JsonValue, place: Place): AccessProfile {
  const body = knownObjectAt(value, place, profileKeys);
  const [read, write, addField] = [...profileKeys.slice(0, 3)].map((key) => textsAt(body, key, place, MAX_NAMES)) as [
    string[],
    string[],
    string[],
  ];
  const owner = own(body, 'owner');
  if (owner !== undefined && typeof owner !== 'string') refuse([...place, 'owner'], 'is not a text');
  return { read, write, addField, ...(typeof owner === 'string' && { owner }) };
}
