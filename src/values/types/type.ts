import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { type Field, type FieldType, typeText } from '../../schema/model.ts';
import { typeOfValue } from '../json/infer.ts';

/**
 * How a value is stored in its column: `text` (String, HTML/XML), `number` (double), `boolean`, `date` (milliseconds since 1970),
 * `pointer` (the objectId; the schema has the class), `json` (JSON text: Array, Object, File, ACL); a Relation has a join table instead.
 */
export type Storage = 'text' | 'number' | 'boolean' | 'date' | 'pointer' | 'json' | 'relation';

/** A value as engines bind and return it: JSON text and objectIds are strings, dates are numbers. */
export type StoredValue = string | number | boolean | null;

/** One wire type. Reference: types.md#wire-types. */
export interface ValueType {
  readonly type: FieldType;
  readonly storage: Storage;
  /**
   * Returns the stored form of a wire value that a client sent, never null.
   * @param className the table, for the text of the error
   * @throws schemaMismatch (111) when the value is of another type; notAType (111) when its wrapper is malformed;
   * invalidNestedKey (121), invalidFieldName (105) for keys inside; invalidAcl (123); invalidJson (107) for numbers that are not finite
   */
  decode(value: JsonValue, field: Field, className: string): StoredValue;
}

/** Refuses a value of another type than the field's (types.md#wire-types). @throws schemaMismatch */
export function mismatch(className: string, field: Field, value: JsonValue): never {
  fail('schemaMismatch', className, field.name, typeText(field.type, field.targetClass), typeOfValue(value));
}
