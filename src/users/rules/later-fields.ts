import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { type Field, type TableSchema, typeText } from '../../schema/model.ts';
import { isOperator, operatorType, parseOperator, valueTypeOf } from '../../values/index.ts';

/** SPEC "`_User`": what appears when it is first written. */
const laterFields: ReadonlyMap<string, Field> = new Map(
  Object.entries({
    phone: 'String',
    extension: 'String',
    job: 'String',
    active: 'Boolean',
    isPortalUser: 'Boolean',
  } as const).map(([name, type]) => [name, { name, type, column: name }]),
);

/**
 * The fields of a write to `_User`, those that it adds in the types of SPEC: the first value would else decide for good, and after an
 * `active` that was a text nobody could be blocked.
 * @param table `_User` as it is
 * @throws schemaMismatch (111), and what `parseOperator` throws
 */
export function typedFields(fields: JsonObject, table: TableSchema | undefined): JsonObject {
  const typed = Object.entries(fields).map(([key, value]): [string, JsonValue] => {
    const name = key.split('.', 1)[0] as string;
    const field = table?.fields.has(name) ? undefined : laterFields.get(name);
    return [key, field ? typedValue(value, field, name !== key) : value];
  });
  return Object.fromEntries(typed);
}

/** @param isInside whether it is for a place inside the field, which neither type has */
function typedValue(value: JsonValue, field: Field, isInside: boolean): JsonValue {
  const operator = isOperator(value) ? parseOperator(value) : undefined;
  if (value === null || operator?.op === 'delete') return value;
  if (isInside) return mismatch(field, 'Object');
  const decoded = (plain: JsonValue) => (plain === null ? null : (valueTypeOf(field).decode(plain, field, '_User') as JsonValue));
  if (!operator) return decoded(value);
  if (operator.op === 'setOnInsert') return { ...(value as JsonObject), amount: decoded(operator.value) };
  const type = operatorType(operator);
  return type ? mismatch(field, typeText(type.type, type.targetClass)) : value;
}

const mismatch = (field: Field, got: string): never => fail('schemaMismatch', '_User', field.name, field.type, got);
