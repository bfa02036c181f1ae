import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { isDefaultField, type NewField } from './change.ts';
import { checkClassName, type Field, type FieldOptions, type FieldType, fieldTypes, hasOptions, optionsOf } from './model.ts';
import { fixedType, isDescribed, isSystemField, takesConstraints } from './system-tables.ts';

/** The changes that `fields` of a definition makes to a table. */
export interface FieldDefinitions {
  readonly deleted: ReadonlySet<string>;
  readonly added: readonly NewField[];
  /** Fields that the table has, with other options. */
  readonly changed: readonly NewField[];
  /** The table's fields after both. */
  readonly after: ReadonlyMap<string, NewField>;
}

/** ACL is a default field of every table and cannot be added. */
const definableTypes: ReadonlyMap<string, FieldType> = new Map(
  fieldTypes.filter((type) => type !== 'ACL').map((type) => [type, type]),
);

/**
 * Parses `fields` of a schema body: `{Name: {type, targetClass?, required?, defaultValue?}, Old: {__op: Delete}}`. Reference: schemas.md#change-a-table.
 * @param before the table's fields now; those of a new table for a create
 * @param checkName the naming rule: throws for a name that no new field may have
 * @throws badSchema (107), invalidFieldName (105), invalidFieldType (111), missingClassName (135), invalidClassName (103),
 * fieldCannotBeAdded, fieldCannotBeChanged (136), schemaOperation (255)
 */
export function defineFields(
  className: string,
  before: ReadonlyMap<string, Field>,
  body: JsonValue | undefined,
  checkName: (name: string) => void,
): FieldDefinitions {
  if (body === undefined) return { deleted: new Set(), added: [], changed: [], after: before };
  if (!isJsonObject(body)) return fail('badSchema', 'fields must be an object');
  const after = new Map<string, NewField>(before);
  const deleted = new Set<string>();
  const added: NewField[] = [];
  const changed: NewField[] = [];
  for (const name of Object.keys(body)) {
    const definition = body[name] as JsonValue;
    if (!isJsonObject(definition)) return fail('badSchema', `the definition of field ${name} must be an object`);
    if (own(definition, '__op') !== undefined) {
      refuseDeletion(className, before, name, definition);
      after.delete(name);
      deleted.add(name);
      continue;
    }
    const field = readField(className, name, definition, before, checkName);
    if (!field) continue;
    after.set(name, field);
    if (before.has(name)) {
      changed.push(field);
      continue;
    }
    if (after.size > limits.fieldsPerTable) fail('fieldCannotBeAdded', name);
    added.push(field);
  }
  if ([...added, ...changed].some(({ defaultValue }) => defaultValue !== undefined))
    checkDefaultsLength(className, after.values());
  return { deleted, added, changed, after };
}

function refuseDeletion(className: string, before: ReadonlyMap<string, Field>, name: string, definition: JsonObject): void {
  if (own(definition, '__op') !== 'Delete') fail('badSchema', `field ${name}: the operators here are Delete, Rename and Retype`);
  if (isDefaultField(name) || isSystemField(className, name)) fail('fieldCannotBeChanged', name);
  if (!before.has(name)) fail('schemaOperation', `Field ${name} does not exist, cannot delete.`);
}

/** Returns the field that a definition adds, or whose options it changes; `undefined` if the table has it with this definition. */
function readField(
  className: string,
  name: string,
  definition: JsonObject,
  before: ReadonlyMap<string, Field>,
  checkName: (name: string) => void,
): NewField | undefined {
  if (isDefaultField(name)) fail('fieldCannotBeAdded', name);
  const known = before.get(name);
  // A secret field is refused as an invalid name, like one that does not exist.
  if (!known || !isDescribed(className, name)) checkName(name);
  const field = readType(name, definition);
  const settled = fixedType(className, name);
  if (settled && field.type !== settled) fail('schemaOperation', `Field ${name} of ${className} can only be a ${settled}.`);
  if (known && (known.type !== field.type || known.targetClass !== field.targetClass))
    fail('schemaOperation', `Field ${name} exists, cannot update.`);
  const options = readOptions(className, field, definition, known);
  if (known && JSON.stringify(options) === JSON.stringify(optionsOf(known))) return undefined;
  return { ...field, ...options };
}

const definitionKeys: ReadonlySet<string> = new Set(['type', 'targetClass', 'dictionary', 'required', 'defaultValue']);

/** Maximum characters of a default value as JSON: it is part of the schema, and of each record. */
const MAX_DEFAULT_LENGTH = 10_000;

/** Maximum characters of all default values of a table: a short request creates a thousand records. */
const MAX_DEFAULTS_LENGTH = 20_000;

/** @throws badSchema (107) */
function checkDefaultsLength(className: string, fields: Iterable<NewField>): void {
  let length = 0;
  for (const { defaultValue } of fields) if (defaultValue !== undefined) length += JSON.stringify(defaultValue).length;
  if (length > MAX_DEFAULTS_LENGTH)
    fail('badSchema', `the default values of ${className} may have ${MAX_DEFAULTS_LENGTH} characters`);
}

const withoutDefault: ReadonlySet<FieldType> = new Set(['Relation', 'File', 'PrivateFile']);

/**
 * Parses `required` and `defaultValue`; what is left out stays. That the default is a value of the field is checked by the caller.
 * @throws badSchema (107), schemaOperation (255)
 */
function readOptions(
  className: string,
  { name, type }: NewField,
  definition: JsonObject,
  known: Field | undefined,
): FieldOptions {
  const sent = own(definition, 'required');
  const required = sent === undefined ? known?.required === true : sent;
  if (typeof required !== 'boolean') return fail('badSchema', `required of field ${name} must be a Boolean`);
  const given = own(definition, 'defaultValue');
  const defaultValue = given === undefined ? known?.defaultValue : given === null ? undefined : given;
  const options = optionsOf({ ...(required && { required }), ...(defaultValue !== undefined && { defaultValue }) });
  if (!hasOptions(options)) return options;
  refuseConstraint(className, name);
  if (required && type === 'Relation') fail('schemaOperation', `Field ${name} is of type Relation, cannot be required.`);
  if (defaultValue === undefined) return options;
  if (withoutDefault.has(type)) fail('schemaOperation', `Field ${name} is of type ${type}, cannot have a defaultValue.`);
  if (JSON.stringify(defaultValue).length > MAX_DEFAULT_LENGTH)
    fail('badSchema', `the defaultValue of field ${name} may have ${MAX_DEFAULT_LENGTH} characters`);
  return options;
}

/** Refuses constraints on fields whose values the service itself writes. @throws schemaOperation (255) */
export function refuseConstraint(className: string, name: string): void {
  if (isDefaultField(name) || isSystemField(className, name) || !takesConstraints(className))
    fail('schemaOperation', `Field ${name} of ${className} is written by the service, cannot be constrained.`);
}

function readType(name: string, definition: JsonObject): NewField {
  for (const key of Object.keys(definition)) {
    if (!definitionKeys.has(key)) fail('schemaOperation', `Field ${name}: ${key} is not supported.`);
  }
  return readFieldType(name, definition);
}

/** Parses `type` and `targetClass` of a field. @throws badSchema (107), invalidFieldType (111), missingClassName (135), invalidClassName (103) */
export function readFieldType(name: string, definition: JsonObject): NewField {
  const named = own(definition, 'type');
  if (typeof named !== 'string') return fail('badSchema', `the type of field ${name} must be a string`);
  const type = definableTypes.get(named) ?? fail('invalidFieldType', named);
  if (type !== 'Pointer' && type !== 'Relation') return { name, type };
  const targetClass = own(definition, 'targetClass');
  if (targetClass === undefined) return fail('missingClassName');
  if (typeof targetClass !== 'string') return fail('badSchema', `the targetClass of field ${name} must be a string`);
  checkClassName(targetClass);
  return { name, type, targetClass };
}
