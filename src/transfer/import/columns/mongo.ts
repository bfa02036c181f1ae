import { Binary, Decimal128, EJSON, Long, ObjectId } from 'bson';
import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { isoText } from '../../../kernel/time.ts';
import { type FieldType, isFileType } from '../../../schema/model.ts';

/** Document keys for internal data of Parse Server: passwords, tokens, locks. */
const internal =
  /^(?:_hashed_password|_auth_data_.+|_session_token|_perishable_token.*|_email_verify_token.*|_failed_login_count|_account_lockout_expires_at|_password_.+|_tombstone)$/;

const renamed: ReadonlyMap<string, string> = new Map([
  ['_id', 'objectId'],
  ['_created_at', 'createdAt'],
  ['_updated_at', 'updatedAt'],
]);

const POINTER = '_p_';

/**
 * Converts a MongoDB document in extended JSON to the body of a create: `_id` becomes the objectId, and Parse's internal names become those of its
 * REST
 * interface.
 * @param typeOf types of known fields
 * @returns the body, and names of what is not imported
 * @throws badRow (107)
 */
export function documentOf(
  document: JsonObject,
  typeOf: (name: string) => FieldType | undefined = () => undefined,
): { readonly body: JsonObject; readonly leftOut: readonly string[] } {
  const body: Record<string, JsonValue> = {};
  const leftOut: string[] = [];
  for (const [key, value] of Object.entries(valuesOf(document))) {
    if (value === undefined || key === '_acl' || key === '_rperm' || key === '_wperm') continue;
    if (internal.test(key)) leftOut.push(key);
    else if (key === '_id') body.objectId = idOf(value);
    else if (key.startsWith(POINTER)) body[key.slice(POINTER.length)] = pointerOf(key, value);
    else {
      const name = renamed.get(key) ?? key;
      const wire = wireOf(value, key);
      body[name] = isFileType(typeOf(name) ?? 'String') && typeof wire === 'string' ? { __type: 'File', name: wire } : wire;
    }
  }
  const acl = aclOf(document);
  if (acl) body.ACL = acl;
  return { body, leftOut };
}

function valuesOf(document: JsonObject): Record<string, unknown> {
  try {
    return EJSON.deserialize(document, { relaxed: true }) as Record<string, unknown>;
  } catch (error) {
    return fail('badRow', `it is no extended JSON of MongoDB: ${(error as Error).message}`);
  }
}

function idOf(value: unknown): string {
  const wire = wireOf(value, '_id');
  return typeof wire === 'object' ? fail('badRow', '_id is neither an ObjectId nor a text') : String(wire);
}

/** Parses `Class$objectId`. */
function pointerOf(key: string, value: unknown): JsonValue {
  if (value === null) return null;
  const [, className, objectId] = typeof value === 'string' ? (/^([^$]+)\$(.+)$/.exec(value) ?? []) : [];
  if (className === undefined || objectId === undefined) return fail('badRow', `${key} is no pointer`);
  return { __type: 'Pointer', className, objectId };
}

/** Converts a value to wire form. @param key of the document, for messages */
function wireOf(value: unknown, key: string): JsonValue {
  if (typeof value === 'number') return finite(value, key);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? Number(value) : ((value ?? null) as JsonValue);
  if (value instanceof Date) {
    const at = value.getTime();
    return Number.isNaN(at) ? fail('badRow', 'a $date is no date') : { __type: 'Date', iso: isoText(at) };
  }
  if (value instanceof ObjectId) return value.toHexString();
  if (Long.isLong(value)) return value.toNumber();
  if (value instanceof Decimal128) return finite(Number(value.toString()), key);
  if (value instanceof Binary) return { base64: value.toString('base64') };
  if (Array.isArray(value)) return value.map((inner) => wireOf(inner, key));
  if ('_bsontype' in value) return fail('badRow', `a value of the type ${String(value._bsontype)} has no form here`);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, wireOf(inner, key)]));
}

const finite = (value: number, key: string): number =>
  Number.isFinite(value) ? value : fail('badRow', `${key}: NaN and Infinity are no numbers here`);

/** Returns the ACL of a Parse document: `_rperm` and `_wperm`, or `_acl` if both are missing. */
function aclOf({ _rperm: readers, _wperm: writers, _acl: stored }: JsonObject): JsonObject | null {
  const acl = new Map<string, JsonObject>();
  const add = (entity: JsonValue, right: 'read' | 'write') => {
    if (typeof entity === 'string') acl.set(entity, { ...acl.get(entity), [right]: true });
  };
  if (Array.isArray(readers) || Array.isArray(writers)) {
    for (const entity of Array.isArray(readers) ? readers : ['*']) add(entity, 'read');
    for (const entity of Array.isArray(writers) ? writers : ['*']) add(entity, 'write');
  } else if (isJsonObject(stored)) {
    for (const [entity, rights] of Object.entries(stored)) {
      if (!isJsonObject(rights)) continue;
      if (rights.r === true) add(entity, 'read');
      if (rights.w === true) add(entity, 'write');
    }
  } else return null;
  // An empty map restricts nobody here, but everybody in Parse.
  return acl.size === 0 ? { '*': {} } : Object.fromEntries(acl);
}
