import { fail } from '../errors/fail.ts';
import { isJsonObject } from '../kernel/json.ts';
import { checkWrapperKeys } from './keys.ts';
import { mismatch } from './mismatch.ts';
import type { ValueType } from './type.ts';

/**
 * CONTRACT "Records": `{__type: Relation, className}`. Clients send back whole records as they read them, so the value is
 * checked and then ignored (null: nothing to store); members change by operators only.
 */
export const relationType: ValueType = {
  type: 'Relation',
  storage: 'relation',
  decode(value, field, className) {
    if (!isJsonObject(value) || value.__type !== 'Relation') return mismatch(className, field, value);
    checkWrapperKeys(value);
    if (typeof value.className !== 'string') return fail('notAType', 'Relation');
    return value.className === field.targetClass ? null : mismatch(className, field, value);
  },
};
