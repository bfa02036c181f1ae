import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import type { NewField, SchemaChange } from './change.ts';
import { checkFieldName, type FieldType, type TableIndex } from './model.ts';

type Fields = ReadonlyMap<string, NewField>;

/** Stored as JSON, or in a join table, so that an index by their order is useless. */
const unordered: ReadonlySet<FieldType> = new Set(['Relation', 'Array', 'Object', 'File', 'PrivateFile', 'ACL']);

/** Changes of the indexes of a table: `dropped` before its fields change, `made` after. */
export interface IndexDefinitions {
  readonly dropped: readonly SchemaChange[];
  readonly made: readonly SchemaChange[];
}

/**
 * Parses `indexes` of a schema body: `{name: {Field: 1 or -1, …} or {__op: Delete}}`. Reference: schemas.md#indexes.
 * @param before the table's indexes now
 * @param fields the table's fields after the body's `fields` are applied
 * @param deleted fields that the body deletes; their indexes go with them
 * @throws badSchema (107), invalidFieldName (105), schemaOperation (255)
 */
export function defineIndexes(
  className: string,
  before: readonly TableIndex[],
  body: JsonValue | undefined,
  fields: Fields,
  deleted: ReadonlySet<string>,
): IndexDefinitions {
  if (body === undefined) return { dropped: [], made: [] };
  if (!isJsonObject(body)) return fail('badSchema', 'indexes must be an object');
  const names = Object.keys(body);
  const removed = names.filter((name) => isRemoval(body[name] as JsonValue));
  for (const name of removed)
    if (!before.some((index) => index.name === name)) fail('schemaOperation', `Index ${name} does not exist, cannot delete.`);
  const staying = before.filter((index) => !removed.includes(index.name) && !index.keys.some(([field]) => deleted.has(field)));
  // SQL ignores the case of index names.
  const taken = new Map(staying.map((index) => [index.name.toLowerCase(), index]));
  const made: SchemaChange[] = [];
  for (const name of names) {
    if (removed.includes(name)) continue;
    const index = readIndex(name, body[name] as JsonValue, fields);
    const known = taken.get(name.toLowerCase());
    if (known && !sameIndex(known, index)) fail('schemaOperation', `Index ${name} exists, cannot update.`);
    if (known) continue;
    taken.set(name.toLowerCase(), index);
    made.push({ kind: 'setIndex', className, index });
  }
  return { dropped: removed.map((name) => ({ kind: 'dropIndex', className, name })), made };
}

const isRemoval = (definition: JsonValue) => isJsonObject(definition) && own(definition, '__op') === 'Delete';

const sameIndex = (a: TableIndex, b: TableIndex) => a.name === b.name && JSON.stringify(a.keys) === JSON.stringify(b.keys);

function readIndex(name: string, definition: JsonValue, fields: Fields): TableIndex {
  checkFieldName(name);
  if (!isJsonObject(definition) || Object.keys(definition).length === 0)
    return fail('badSchema', `index ${name} must be an object of fields and directions`);
  return { name, keys: Object.keys(definition).map((field) => readKey(name, field, definition, fields)) };
}

function readKey(index: string, name: string, definition: JsonObject, fields: Fields): readonly [string, 1 | -1] {
  const field = fields.get(name);
  if (!field) return fail('schemaOperation', `Field ${name} does not exist, cannot add index.`);
  requireIndexable(field);
  const direction = definition[name];
  return direction === 1 || direction === -1 ? [name, direction] : fail('badSchema', `index ${index}: a direction is 1 or -1`);
}

/** Whether the values of a field have an order, so that an index of them is possible. */
export const isIndexable = ({ type }: NewField): boolean => !unordered.has(type);

/** @throws schemaOperation (255) for a field whose values have no order */
export function requireIndexable({ name, type }: NewField): void {
  if (unordered.has(type)) fail('schemaOperation', `Field ${name} is of type ${type}, cannot add index.`);
}

/** @throws schemaOperation (255) for a field that is no text */
export function requireText({ name, type }: NewField): void {
  if (type !== 'String' && type !== 'HTML/XML')
    fail('schemaOperation', `Field ${name} is of type ${type}, cannot add text index.`);
}

/**
 * Parses `textIndex` of a schema body: the fields that `$text` searches; an empty list removes the index. Reference: schemas.md#text-index.
 * @throws badSchema (107), schemaOperation (255)
 */
export function defineTextIndex(className: string, body: JsonValue | undefined, fields: Fields): SchemaChange[] {
  if (body === undefined) return [];
  if (!Array.isArray(body)) return fail('badSchema', 'textIndex must be an array of field names');
  const names = new Set<string>();
  for (const name of body) {
    if (typeof name !== 'string') return fail('badSchema', 'textIndex must be an array of field names');
    requireText(fields.get(name) ?? fail('schemaOperation', `Field ${name} does not exist, cannot add index.`));
    names.add(name);
  }
  return [{ kind: 'setTextIndex', className, fields: [...names] }];
}
