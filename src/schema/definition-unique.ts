import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import type { NewField, SchemaChange } from './change.ts';
import { refuseConstraint } from './definition-fields.ts';
import type { IndexDefinitions } from './definition-indexes.ts';
import { checkFieldName, type FieldType, isSameIndex, type UniqueForm, type UniqueIndex, uniqueForms } from './model.ts';
import { MAX_UNIQUE_FIELDS } from './unique-key.ts';

type Fields = ReadonlyMap<string, NewField>;

/** Maximum number of unique indexes of a table: each is checked by every write. */
const MAX_INDEXES = 20;

/** Two such values cannot be compared as a whole. */
const incomparable: ReadonlySet<FieldType> = new Set(['Relation', 'Array', 'Object', 'File', 'PrivateFile', 'ACL']);

const forms: ReadonlyMap<string, UniqueForm> = new Map(uniqueForms.map((form) => [form, form]));

/**
 * Parses `uniqueIndexes` of a schema body: `{name: {fields: [F, …], as?} or {__op: Delete}}`. Reference: schemas.md#unique-indexes.
 * @param before the table's unique indexes now
 * @param fields the table's fields after the body's `fields` are applied
 * @param deleted fields that the body deletes; their indexes go with them
 * @throws badSchema (107), invalidFieldName (105), schemaOperation (255)
 */
export function defineUniqueIndexes(
  className: string,
  before: ReadonlyMap<string, UniqueIndex>,
  body: JsonValue | undefined,
  fields: Fields,
  deleted: ReadonlySet<string>,
): IndexDefinitions {
  if (body === undefined) return { dropped: [], made: [] };
  if (!isJsonObject(body)) return fail('badSchema', 'uniqueIndexes must be an object');
  const staying = new Map([...before].filter(([, index]) => !index.fields.some((name) => deleted.has(name))));
  const dropped: SchemaChange[] = [];
  for (const name of Object.keys(body)) {
    if (!isRemoval(body[name] as JsonValue)) continue;
    if (!before.has(name)) fail('schemaOperation', `Unique index ${name} does not exist, cannot delete.`);
    staying.delete(name);
    dropped.push({ kind: 'dropUniqueIndex', className, name });
  }
  // SQL ignores the case of index names.
  const taken = new Map(Array.from(staying.values(), (index) => [index.name.toLowerCase(), index]));
  const made: SchemaChange[] = [];
  for (const name of Object.keys(body)) {
    if (isRemoval(body[name] as JsonValue)) continue;
    const index = readIndex(className, name, body[name] as JsonValue, fields);
    const known = taken.get(name.toLowerCase());
    if (known && !isSameIndex(known, index)) fail('schemaOperation', `Unique index ${name} exists, cannot update.`);
    if (known) continue;
    taken.set(name.toLowerCase(), index);
    if (taken.size > MAX_INDEXES) fail('schemaOperation', `A table may have ${MAX_INDEXES} unique indexes.`);
    made.push({ kind: 'setUniqueIndex', className, index });
  }
  return { dropped, made };
}

const isRemoval = (definition: JsonValue) => isJsonObject(definition) && own(definition, '__op') === 'Delete';

function readIndex(className: string, name: string, definition: JsonValue, fields: Fields): UniqueIndex {
  checkFieldName(name);
  if (!isJsonObject(definition)) return fail('badSchema', `unique index ${name} must be an object with fields`);
  for (const key of Object.keys(definition))
    if (key !== 'fields' && key !== 'as') fail('badSchema', `unique index ${name}: ${key} is not a key of it`);
  const as = readForm(name, definition);
  const names = readNames(name, own(definition, 'fields'));
  for (const one of names) refuseField(className, fields.get(one), one, as);
  return { name, fields: names, ...(as !== 'text' && { as }) };
}

function readForm(name: string, definition: JsonObject): UniqueForm {
  const as = own(definition, 'as') ?? 'text';
  const form = typeof as === 'string' ? forms.get(as) : undefined;
  return form ?? fail('badSchema', `unique index ${name}: as is one of ${uniqueForms.join(', ')}`);
}

function readNames(name: string, body: JsonValue | undefined): string[] {
  const isList = Array.isArray(body) && body.length > 0 && body.every((one) => typeof one === 'string');
  if (!isList) return fail('badSchema', `unique index ${name}: fields must be an array of field names`);
  if (new Set(body).size < body.length) fail('badSchema', `unique index ${name}: a field is named twice`);
  if (body.length > MAX_UNIQUE_FIELDS) fail('badSchema', `unique index ${name} may have ${MAX_UNIQUE_FIELDS} fields`);
  return body as string[];
}

function refuseField(className: string, field: NewField | undefined, name: string, as: UniqueForm): void {
  if (!field) fail('schemaOperation', `Field ${name} does not exist, cannot add unique index.`);
  requireComparable(field, as);
  refuseConstraint(className, name);
}

/** Refuses a field whose values a unique index cannot compare in a form. @throws schemaOperation (255) */
export function requireComparable({ name, type }: NewField, as: UniqueForm): void {
  if (incomparable.has(type)) fail('schemaOperation', `Field ${name} is of type ${type}, cannot add unique index.`);
  if (as !== 'text' && type !== 'String') fail('schemaOperation', `Field ${name} is of type ${type}, cannot be unique as ${as}.`);
}
