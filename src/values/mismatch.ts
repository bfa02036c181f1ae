import { fail } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { type Field, typeText } from '../schema/model.ts';
import { typeOfValue } from './infer.ts';

/** Refuses a value of another type than the field's (SPEC "Errors" 111). @throws schemaMismatch */
export function mismatch(className: string, field: Field, value: JsonValue): never {
  fail('schemaMismatch', className, field.name, typeText(field.type, field.targetClass), typeOfValue(value));
}
