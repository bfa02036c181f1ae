import { isJsonObject } from '../kernel/json.ts';
import { checkFieldKeys } from './keys.ts';
import { mismatch } from './mismatch.ts';
import type { ValueType } from './type.ts';

/** SPEC "Wire types": JSON object, stored as JSON text. An object with a `__type` of its own is a value of that type, not an Object. */
export const objectType: ValueType = {
  type: 'Object',
  storage: 'json',
  decode(value, field, className) {
    if (!isJsonObject(value) || Object.hasOwn(value, '__type')) return mismatch(className, field, value);
    checkFieldKeys(value, field, className);
    return JSON.stringify(value);
  },
};
