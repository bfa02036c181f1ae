import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { isDefaultField, type NewField } from './change.ts';
import { checkClassName, type Field, type FieldType, fieldTypes } from './model.ts';
import { fixedType, isDescribed, isSystemField } from './system-tables.ts';

/** The changes that `fields` of a definition makes to a table. */
export interface FieldDefinitions {
  readonly deleted: ReadonlySet<string>;
  readonly added: readonly NewField[];
  /** The table's fields after both. */
  readonly after: ReadonlyMap<string, NewField>;
}

/** ACL is a default field of every table and cannot be added. */
const definableTypes: ReadonlyMap<string, FieldType> = new Map(
  fieldTypes.filter((type) => type !== 'ACL').map((type) => [type, type]),
);

/**
 * Parses `fields` of a schema body: `{Name: {type, targetClass?}, Old: {__op: Delete}}`. Reference: schemas.md#change-a-table.
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
  if (body === undefined) return { deleted: new Set(), added: [], after: before };
  if (!isJsonObject(body)) return fail('badSchema', 'fields must be an object');
  const after = new Map<string, NewField>(before);
  const deleted = new Set<string>();
  const added: NewField[] = [];
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
    if (after.size > limits.fieldsPerTable) fail('fieldCannotBeAdded', name);
    added.push(field);
  }
  return { deleted, added, after };
}

function refuseDeletion(className: string, before: ReadonlyMap<string, Field>, name: string, definition: JsonObject): void {
  if (own(definition, '__op') !== 'Delete') fail('badSchema', `field ${name}: the operators here are Delete, Rename and Retype`);
  if (isDefaultField(name) || isSystemField(className, name)) fail('fieldCannotBeChanged', name);
  if (!before.has(name)) fail('schemaOperation', `Field ${name} does not exist, cannot delete.`);
}

/** Returns the field that a definition adds; `undefined` if the table has it with this definition. */
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
  if (!known) return field;
  if (known.type !== field.type || known.targetClass !== field.targetClass)
    fail('schemaOperation', `Field ${name} exists, cannot update.`);
  return undefined;
}

function readType(name: string, definition: JsonObject): NewField {
  for (const key of Object.keys(definition)) {
    const known =
      key === 'type' || key === 'targetClass' || key === 'dictionary' || (key === 'required' && definition[key] === false);
    if (!known) fail('schemaOperation', `Field ${name}: ${key} is not supported.`);
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
