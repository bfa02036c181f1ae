import { fail, type ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { NewField, SchemaChange } from '../../schema/change.ts';
import { type Field, rootOf, type Schema, type TableSchema } from '../../schema/model.ts';
import type { Assignment } from '../../storage/port.ts';
import { applyEdits, isOperator, valueTypeOf } from '../../values/index.ts';

/** The fields of a table that have options. */
interface Options {
  readonly withDefault: readonly Field[];
  readonly required: readonly Field[];
}

/** By the map of the fields: fields that a write adds to it have no options. */
const optionsOf = memoByObject((fields: ReadonlyMap<string, Field>): Options => {
  const all = [...fields.values()];
  return {
    withDefault: all.filter(({ defaultValue }) => defaultValue !== undefined),
    required: all.filter(({ required }) => required === true),
  };
});

/** Returns the values of fields that the body of a create leaves out. Reference: schemas.md#required-fields-and-defaults. */
export function defaultsFor({ fields }: TableSchema, body: JsonObject): [name: string, value: JsonValue][] {
  const { withDefault } = optionsOf(fields);
  if (withDefault.length === 0) return [];
  const sent = new Set(Object.keys(body).map(rootOf));
  return withDefault.flatMap(({ name, defaultValue }) => (sent.has(name) ? [] : [[name, defaultValue as JsonValue]]));
}

/**
 * Checks that a write leaves no required field without a value.
 * @param assignments of a create: all of them, without edits
 * @param names the fields to check: of a create usually all; `null`: those that the write sets
 * @param hidden fields that do not exist for the caller
 * @throws fieldRequired, hiddenFieldRequired (142)
 */
export function requireValues(
  { fields, className }: TableSchema,
  assignments: ReadonlyMap<string, Assignment>,
  names: ReadonlySet<string> | 'all' | null,
  hidden: ReadonlySet<string>,
): void {
  for (const field of optionsOf(fields).required) {
    const { name } = field;
    const assignment = assignments.get(name);
    const isChecked = names === null ? assignment !== undefined : names === 'all' || names.has(name);
    if (!isChecked || (assignment && keepsValue(assignment, `${className}.${name}`))) continue;
    throw missingError(name, hidden);
  }
}

/** Returns the error for a required field without a value; it does not name a hidden one. */
export const missingError = (name: string, hidden: ReadonlySet<string>): ServiceError =>
  hidden.has(name) ? serviceError('hiddenFieldRequired') : serviceError('fieldRequired', name);

/** Returns the required fields that a record to be created, with values of the named fields, lacks. */
export function missingFields({ fields }: TableSchema, names: ReadonlySet<string>): Field[] {
  return optionsOf(fields).required.filter(({ name, defaultValue }) => defaultValue === undefined && !names.has(name));
}

/** Whether the field has a value after an assignment if it had one before. */
function keepsValue(assignment: Assignment, label: string): boolean {
  if (assignment.kind === 'set') return assignment.value !== null && assignment.value !== '';
  if (assignment.kind !== 'edit') return true;
  const { edits, field } = assignment;
  const [first] = edits;
  const isReplaced = first?.path.length === 0 && first.op === 'unset';
  return !isReplaced || applyEdits(null, edits, field.type as 'Array' | 'Object', label) !== null;
}

/**
 * Checks that the default values that schema changes set are values of their fields.
 * @param after the schema with the changes
 * @throws schemaMismatch (111), and the other errors of `values/`
 */
export function checkDefaults(changes: readonly SchemaChange[], after: Schema): void {
  for (const change of changes) {
    if (change.kind === 'createTable') for (const field of change.fields ?? []) checkDefault(change.className, field);
    else if (change.kind === 'addField') checkDefault(change.className, change);
    else if (change.kind === 'setFieldOptions') {
      // Its type may have changed too.
      const field = after.tables.get(change.className)?.fields.get(change.name);
      if (field) checkDefault(change.className, field);
    }
  }
}

function checkDefault(className: string, field: NewField): void {
  const { name, defaultValue } = field;
  if (defaultValue === undefined) return;
  if (isOperator(defaultValue)) fail('badSchema', `the defaultValue of field ${name} must be a value`);
  const whole: Field = { ...field, column: name };
  valueTypeOf(whole).decode(defaultValue, whole, className);
}
