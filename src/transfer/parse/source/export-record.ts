import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { timeOf } from './mongo-record.ts';
import { aclOf, ownFields, type ParseField, type ParseRecord, type ParseType } from './source.ts';

/** Members of exported users that are not fields. */
const userOnly: ReadonlySet<string> = new Set(['authData', 'bcryptPassword', 'password', 'sessionToken']);

/** Converts an object of a Parse export, which is in the wire form of its REST interface. */
export function recordOfExport(object: JsonObject, className: string): ParseRecord {
  const isUser = className === '_User';
  const values = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(object))
    if (value !== null && !name.startsWith('_') && !ownFields.has(name) && !(isUser && userOnly.has(name)))
      values.set(name, value);
  const acl = own(object, 'ACL');
  const hash = own(object, 'bcryptPassword') ?? own(object, '_hashed_password');
  const authData = own(object, 'authData');
  return {
    objectId: String(object.objectId),
    createdAt: timeIn(own(object, 'createdAt')),
    updatedAt: timeIn(own(object, 'updatedAt')),
    acl: isJsonObject(acl) ? acl : aclOf(own(object, '_rperm'), own(object, '_wperm')),
    ...(isUser && typeof hash === 'string' && { passwordHash: hash }),
    ...(isUser && { hasAuthData: isJsonObject(authData) && Object.keys(authData).length > 0 }),
    values,
  };
}

const timeIn = (value: JsonValue | undefined): number | null => timeOf(isJsonObject(value) ? own(value, 'iso') : value);

const wrapped: ReadonlySet<string> = new Set<ParseType>(['Date', 'Pointer', 'Relation', 'File', 'GeoPoint', 'Bytes', 'Polygon']);

/** Derives the type of a field from its first value. */
export function typeOfWire(value: JsonValue): ParseField {
  const options: string[] = [];
  if (typeof value === 'string') return { type: 'String', options };
  if (typeof value === 'number') return { type: 'Number', options };
  if (typeof value === 'boolean') return { type: 'Boolean', options };
  if (Array.isArray(value)) return { type: 'Array', options };
  if (value === null || typeof value.__type !== 'string') return { type: 'Object', options };
  // An included object stands for its Pointer.
  const type = value.__type === 'Object' ? 'Pointer' : value.__type;
  if (!wrapped.has(type)) return { type: 'Object', options };
  const { className } = value;
  return { type, options, ...(typeof className === 'string' && { targetClass: className }) };
}
