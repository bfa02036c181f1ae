import { isJsonObject } from '../../kernel/json.ts';
import { checkFieldKeys, withoutIncluded } from '../json/keys.ts';
import { mismatch, type ValueType } from './type.ts';

/** SPEC "Wire types": JSON array, stored as JSON text; Pointers and Dates inside stay wrapped, included records become Pointers. */
export const arrayType: ValueType = {
  type: 'Array',
  storage: 'json',
  decode(value, field, className) {
    if (!Array.isArray(value)) return mismatch(className, field, value);
    const elements = withoutIncluded(value);
    checkFieldKeys(elements, field, className);
    return JSON.stringify(elements);
  },
};

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
