import { Binary, Decimal128, Double, Int32, Long } from 'bson';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { aclOf, type ParseClass, type ParseField, type ParseRecord } from './source.ts';

/** A document as parsed by the BSON library. */
export type MongoDocument = Record<string, unknown>;

const authData = /^_auth_data_/;

/** Converts a document of a class's collection as Parse Server does (`MongoTransform.js`, mongoObjectToParseObject). */
export function recordOfDocument(document: MongoDocument, { className, fields }: ParseClass): ParseRecord {
  const values = new Map<string, JsonValue>();
  let hash: string | undefined;
  let hasAuthData = false;
  for (const [key, value] of Object.entries(document)) {
    if (value === null || value === undefined) continue;
    if (key === '_hashed_password') hash = String(value);
    else if (authData.test(key) || key === 'authData') hasAuthData ||= isJsonObject(value) && Object.keys(value).length > 0;
    else if (key.startsWith('_p_')) addPointer(values, key.slice(3), value, fields);
    else if (!key.startsWith('_') && key !== 'createdAt' && key !== 'updatedAt') {
      const wire = wireOf(value, fields.get(key));
      if (wire !== undefined) values.set(key, wire);
    }
  }
  const isUser = className === '_User';
  return {
    objectId: String(document._id),
    createdAt: timeOf(document._created_at ?? document.createdAt),
    updatedAt: timeOf(document._updated_at ?? document.updatedAt),
    acl: aclOf(document._rperm, document._wperm),
    ...(isUser && hash !== undefined && { passwordHash: hash }),
    ...(isUser && { hasAuthData }),
    values,
  };
}

/** Parses `Class$id`. */
function addPointer(values: Map<string, JsonValue>, name: string, value: unknown, fields: ReadonlyMap<string, ParseField>): void {
  if (fields.get(name)?.type !== 'Pointer' || typeof value !== 'string') return;
  const at = value.indexOf('$');
  values.set(name, { __type: 'Pointer', className: value.slice(0, at), objectId: value.slice(at + 1) });
}

/** Returns milliseconds since 1970; `null` for anything but a time. */
export function timeOf(value: unknown): number | null {
  const time = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) ? time : null;
}

function wireOf(value: unknown, field: ParseField | undefined): JsonValue | undefined {
  switch (field?.type) {
    case 'File':
      return typeof value === 'string' ? { __type: 'File', name: value } : nested(value);
    case 'GeoPoint':
      return Array.isArray(value) && value.length === 2
        ? { __type: 'GeoPoint', latitude: Number(value[1]), longitude: Number(value[0]) }
        : nested(value);
    case 'Bytes':
      return typeof value === 'string' ? { __type: 'Bytes', base64: value } : nested(value);
    case 'Polygon': {
      const [ring] = isJsonObject(value) && Array.isArray(value.coordinates) ? value.coordinates : [];
      if (!Array.isArray(ring)) return nested(value);
      return { __type: 'Polygon', coordinates: ring.map(turned) };
    }
    default:
      return nested(value);
  }
}

/** Converts a nested value, or one whose type needs no special handling. @returns `undefined` for values that JSON cannot represent */
function nested(value: unknown): JsonValue | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object') return undefined;
  if (value instanceof Date) return { __type: 'Date', iso: isoOf(value) };
  if (Array.isArray(value)) return value.map((element) => nested(element) ?? null);
  if (value instanceof Binary) return { __type: 'Bytes', base64: Buffer.from(value.value()).toString('base64') };
  if (value instanceof Long) return value.toNumber();
  if (value instanceof Double || value instanceof Int32) return value.valueOf();
  if (value instanceof Decimal128) return Number(value.toString());
  if ('_bsontype' in value) return String(value);
  const entries = Object.entries(value).map(([key, inner]) => [key, nested(inner) ?? null] as const);
  const object: JsonObject = Object.fromEntries(entries);
  return object;
}

/** Swaps `[longitude, latitude]`, as Parse's wire form does. */
function turned(point: unknown): JsonValue {
  const [longitude, latitude] = Array.isArray(point) ? point : [];
  return [Number(latitude), Number(longitude)];
}

/** An invalid date becomes a text that a Date field rejects, so that it is reported there. */
const isoOf = (date: Date): string => (Number.isNaN(date.getTime()) ? 'no date' : date.toISOString());
