import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import type { Field } from '../../schema/model.ts';
import { containerText } from '../json/checked-ahead.ts';
import { parseIsoDate } from '../json/iso.ts';
import { checkFieldKeys, checkFinite, checkWrapperKeys, withoutIncluded } from '../json/keys.ts';
import { mismatch, type ValueType } from './type.ts';

/** Decodes a String or HTML/XML value; a number becomes its JavaScript text. Reference: types.md#string. */
export function decodeText(value: JsonValue, field: Field, className: string): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return mismatch(className, field, value);
  checkFinite(value);
  return String(value);
}

/** JSON string (types.md#string). */
export const stringType: ValueType = { type: 'String', storage: 'text', decode: decodeText };

/** A string of markup, stored as sent; programs that show it have to sanitise it (types.md#html-and-xml). */
export const htmlType: ValueType = { type: 'HTML/XML', storage: 'text', decode: decodeText };

/** JSON number, kept as a double (types.md#number). */
export const numberType: ValueType = {
  type: 'Number',
  storage: 'number',
  decode(value, field, className) {
    if (typeof value !== 'number') return mismatch(className, field, value);
    checkFinite(value);
    return value;
  },
};

/** JSON Boolean (types.md#boolean). */
export const booleanType: ValueType = {
  type: 'Boolean',
  storage: 'boolean',
  decode(value, field, className) {
    return typeof value === 'boolean' ? value : mismatch(className, field, value);
  },
};

/** `{__type: Date, iso}`; stored as milliseconds since 1970 (types.md#date). */
export const dateType: ValueType = {
  type: 'Date',
  storage: 'date',
  decode(value, field, className) {
    if (!isJsonObject(value) || value.__type !== 'Date') return mismatch(className, field, value);
    checkWrapperKeys(value);
    const instant = typeof value.iso === 'string' ? parseIsoDate(value.iso) : null;
    return instant ?? fail('notAType', 'Date');
  },
};

/** JSON array, stored as JSON text; Pointers and Dates inside stay wrapped, included records become Pointers (types.md#array). */
export const arrayType: ValueType = {
  type: 'Array',
  storage: 'json',
  decode(value, field, className) {
    if (!Array.isArray(value)) return mismatch(className, field, value);
    const elements = withoutIncluded(value);
    checkFieldKeys(elements, field, className);
    return containerText(elements);
  },
};

/** JSON object, stored as JSON text. An object with a `__type` of its own is a value of that type, not an Object (types.md#object). */
export const objectType: ValueType = {
  type: 'Object',
  storage: 'json',
  decode(value, field, className) {
    if (!isJsonObject(value) || Object.hasOwn(value, '__type')) return mismatch(className, field, value);
    checkFieldKeys(value, field, className);
    return containerText(value);
  },
};
