import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { isDefaultField, type NewField, type SchemaChange } from './change.ts';
import { readFieldType } from './definition-fields.ts';
import { requireIndexable, requireText } from './definition-indexes.ts';
import { requireComparable } from './definition-unique.ts';
import { type ClassLevelPermissions, type Field, type FieldType, type TableSchema, typeText } from './model.ts';
import { SEARCH_INDEX } from './search-index.ts';
import { derivedFieldsOf, fixedType, isSystemField } from './system-tables.ts';

/** What happens to values that cannot be converted. */
export type OnError = 'refuse' | 'null';

/** A new type for a field. */
export interface FieldRetype extends Pick<Field, 'type' | 'targetClass'> {
  readonly onError: OnError;
}

const RETYPE = 'Retype';
const USER_FIELD = 'userField:';
const keys: ReadonlySet<string> = new Set(['__op', 'type', 'targetClass', 'onError']);

const scalar: readonly FieldType[] = ['String', 'Number', 'Boolean', 'Date', 'Pointer'];

/** The types that values of a type can get (`values/retype/`). Reference: schemas.md#conversions. */
export const conversionTargets: ReadonlyMap<FieldType, ReadonlySet<FieldType>> = new Map(
  Object.entries({
    String: [...scalar.filter((type) => type !== 'String'), 'HTML/XML', 'Array', 'Object'],
    'HTML/XML': ['String'],
    Number: ['String', 'Boolean', 'Date', 'Array'],
    Boolean: ['String', 'Number', 'Array'],
    Date: ['String', 'Number', 'Array'],
    Pointer: ['String', 'Pointer', 'Array'],
    Array: ['String'],
    Object: ['String', 'Array'],
  } satisfies Partial<Record<FieldType, readonly FieldType[]>>).map(([from, to]) => [from as FieldType, new Set<FieldType>(to)]),
);

/**
 * Splits a schema body into the new types of fields, `{F: {__op: "Retype", type, targetClass?, onError?}}`, and the rest.
 * Reference: schemas.md#change-the-type-of-a-field.
 * @throws badSchema (107), invalidFieldType (111), missingClassName (135), invalidClassName (103)
 */
export function takeRetypes(body: JsonObject): { readonly retypes: ReadonlyMap<string, FieldRetype>; readonly rest: JsonObject } {
  const fields = own(body, 'fields');
  const retypes = new Map<string, FieldRetype>();
  if (!isJsonObject(fields)) return { retypes, rest: body };
  const others: [string, JsonValue][] = [];
  for (const [name, definition] of Object.entries(fields)) {
    if (isJsonObject(definition) && own(definition, '__op') === RETYPE) retypes.set(name, readRetype(name, definition));
    else others.push([name, definition]);
  }
  return { retypes, rest: retypes.size === 0 ? body : { ...body, fields: Object.fromEntries(others) } };
}

function readRetype(name: string, definition: JsonObject): FieldRetype {
  for (const key of Object.keys(definition))
    if (!keys.has(key)) fail('badSchema', `field ${name}: ${key} is not a key of a change of type`);
  const onError = own(definition, 'onError') ?? 'refuse';
  if (onError !== 'refuse' && onError !== 'null') fail('badSchema', `field ${name}: onError is refuse or null`);
  const { type, targetClass } = readFieldType(name, definition);
  return { type, onError, ...(targetClass !== undefined && { targetClass }) };
}

/**
 * Plans new types of fields. A field that has the type already is no change. What depends on the type and does not fit the new one refuses it. Pure.
 * Reference: schemas.md#change-the-type-of-a-field.
 * @param table after the other changes of fields
 * @throws fieldCannotBeChanged (136), schemaOperation (255), cannotRetype (111), invalidClp (107)
 */
export function planRetypes(table: TableSchema, retypes: ReadonlyMap<string, FieldRetype>): SchemaChange[] {
  const { className } = table;
  const changes: SchemaChange[] = [];
  for (const [name, { type, targetClass, onError }] of retypes) {
    if (isDefaultField(name) || isSystemField(className, name) || derivedFieldsOf(className).has(name))
      fail('fieldCannotBeChanged', name);
    const field = table.fields.get(name) ?? fail('schemaOperation', `Field ${name} does not exist, cannot change its type.`);
    const typed = { type, ...(targetClass !== undefined && { targetClass }) };
    if (field.type === type && field.targetClass === targetClass) continue;
    const settled = fixedType(className, name);
    if (settled) fail('schemaOperation', `Field ${name} of ${className} can only be a ${settled}.`);
    if (!conversionTargets.get(field.type)?.has(type))
      fail('cannotRetype', name, typeText(field.type, field.targetClass), typeText(type, targetClass));
    requireFitting(table, { name, ...typed });
    changes.push({ kind: 'retypeField', className, name, ...typed, onError });
  }
  // The copy has no search index, which the service builds beside other work.
  if (changes.length === 0 || !table.indexes.has(SEARCH_INDEX)) return changes;
  return [...changes, { kind: 'dropIndex', className, name: SEARCH_INDEX }];
}

/** @throws schemaOperation (255), invalidClp (107) */
function requireFitting(table: TableSchema, field: NewField): void {
  const { name, type, targetClass } = field;
  for (const { keys: indexed } of table.indexes.values()) if (indexed.some(([key]) => key === name)) requireIndexable(field);
  for (const { fields, as = 'text' } of table.uniqueIndexes.values()) if (fields.includes(name)) requireComparable(field, as);
  if (table.textIndex.includes(name)) requireText(field);
  const holdsUsers = type === 'Array' || (type === 'Pointer' && targetClass === '_User');
  if (!holdsUsers && userFieldsOf(table.permissions).has(name))
    fail('invalidClp', `${name} gives users rights, and would be no Pointer to _User and no Array`);
}

/** Returns the fields by which permissions find users. */
function userFieldsOf({ protectedFields = {}, readUserFields = [], writeUserFields = [], ...grants }: ClassLevelPermissions) {
  const inGrants = Object.values(grants).flatMap(({ pointerFields }) => (Array.isArray(pointerFields) ? pointerFields : []));
  const inLists = Object.keys(protectedFields).flatMap((entity) =>
    entity.startsWith(USER_FIELD) ? entity.slice(USER_FIELD.length) : [],
  );
  return new Set<string>([...readUserFields, ...writeUserFields, ...inGrants, ...inLists]);
}
