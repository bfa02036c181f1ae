import { isJsonObject, type JsonValue } from '../../../kernel/json.ts';
import { aclOf, type ParseClass, type ParseField, type ParseRecord } from './source.ts';

/** Converts a row of a class's table as Parse Server does (`PostgresStorageAdapter.js`, postgresObjectToParseObject). */
export function recordOfRow(names: readonly string[], row: readonly unknown[], { className, fields }: ParseClass): ParseRecord {
  const isUser = className === '_User';
  const values = new Map<string, JsonValue>();
  const systemValues = new Map<string, unknown>();
  names.forEach((name, at) => {
    const value = row[at];
    if (value === null || value === undefined) return;
    const field = fields.get(name);
    if (!field || (isUser && name === 'authData')) systemValues.set(name, value);
    else values.set(name, wireOf(value, field));
  });
  const hash = systemValues.get('_hashed_password');
  const authData = systemValues.get('authData');
  return {
    objectId: String(systemValues.get('objectId')),
    createdAt: timeOf(systemValues.get('createdAt')),
    updatedAt: timeOf(systemValues.get('updatedAt')),
    acl: aclOf(systemValues.get('_rperm'), systemValues.get('_wperm')),
    ...(isUser && typeof hash === 'string' && { passwordHash: hash }),
    ...(isUser && { hasAuthData: isJsonObject(authData) && Object.keys(authData).length > 0 }),
    values,
  };
}

const timeOf = (value: unknown): number | null => {
  const time = value instanceof Date ? value.getTime() : Number.NaN;
  return Number.isFinite(time) ? time : null;
};

function wireOf(value: unknown, { type, targetClass = '' }: ParseField): JsonValue {
  switch (type) {
    case 'Pointer':
      return { __type: 'Pointer', className: targetClass, objectId: String(value) };
    case 'File':
      return { __type: 'File', name: String(value) };
    case 'GeoPoint': {
      const { x, y } = value as { x: number; y: number };
      return { __type: 'GeoPoint', latitude: y, longitude: x };
    }
    case 'Polygon':
      return { __type: 'Polygon', coordinates: ringOf(String(value)) };
    default:
      // PostgreSQL allows `infinity`; it becomes a text that a Date field rejects, so that it is reported there.
      if (type === 'Date') return { __type: 'Date', iso: timeOf(value) === null ? 'no date' : (value as Date).toISOString() };
      return value as JsonValue;
  }
}

/** Parses `((longitude,latitude),…)`. */
function ringOf(text: string): JsonValue {
  return text
    .slice(2, -2)
    .split('),(')
    .map((point) => {
      const [longitude, latitude] = point.split(',');
      return [Number(latitude), Number(longitude)];
    });
}
