import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { ownFields, type ParseClass, type ParseField, type ParseType } from './source.ts';

const scalars: ReadonlyMap<string, ParseType> = new Map([
  ['string', 'String'],
  ['number', 'Number'],
  ['boolean', 'Boolean'],
  ['date', 'Date'],
  ['map', 'Object'],
  ['object', 'Object'],
  ['array', 'Array'],
  ['file', 'File'],
  ['geopoint', 'GeoPoint'],
  ['bytes', 'Bytes'],
  ['polygon', 'Polygon'],
]);

/**
 * Parses a document of Parse Server's collection `_SCHEMA` (`MongoSchemaCollection.js`): `{_id: class, field: type, …, _metadata}` with types such as
 * `string`, `*Class` for a Pointer, `relation<Class>`.
 */
export function classOfDocument(document: JsonObject): ParseClass {
  const metadata = objectIn(document, '_metadata');
  const options = objectIn(metadata, 'fields_options');
  const fields = new Map<string, ParseField>();
  for (const [name, type] of Object.entries(document)) {
    if (name.startsWith('_') || ownFields.has(name) || typeof type !== 'string') continue;
    fields.set(name, { ...typeOf(type), options: optionsOf(own(options, name)) });
  }
  const permissions = own(metadata, 'class_permissions');
  return {
    className: String(document._id),
    fields,
    permissions: isJsonObject(permissions) ? permissions : null,
    indexes: indexesOf(own(metadata, 'indexes')),
  };
}

function typeOf(type: string): Pick<ParseField, 'type' | 'targetClass'> {
  if (type.startsWith('*')) return { type: 'Pointer', targetClass: type.slice(1) };
  const relation = /^relation<(.*)>$/.exec(type)?.[1];
  return relation === undefined ? { type: scalars.get(type) ?? type } : { type: 'Relation', targetClass: relation };
}

const objectIn = (document: JsonObject, key: string): JsonObject => {
  const value = own(document, key);
  return isJsonObject(value) ? value : {};
};

/** Returns the requirements of a field besides its type. */
export function optionsOf(definition: JsonValue | undefined): string[] {
  if (!isJsonObject(definition)) return [];
  return [
    ...(own(definition, 'required') === true ? ['required'] : []),
    ...(own(definition, 'defaultValue') === undefined ? [] : ['defaultValue']),
  ];
}

export function indexesOf(indexes: JsonValue | undefined): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  if (isJsonObject(indexes)) for (const [name, keys] of Object.entries(indexes)) if (isJsonObject(keys)) found.set(name, keys);
  return found;
}
