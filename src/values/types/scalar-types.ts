import type { JsonValue } from '../../kernel/json.ts';
import type { Field } from '../../schema/model.ts';
import { checkFinite } from '../json/keys.ts';
import { mismatch, type ValueType } from './type.ts';

/** SPEC "Limits": a string field converts a number silently. Shared by String and HTML/XML. */
export function decodeText(value: JsonValue, field: Field, className: string): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return mismatch(className, field, value);
  checkFinite(value);
  return String(value);
}

/** SPEC "Wire types": JSON string. */
export const stringType: ValueType = { type: 'String', storage: 'text', decode: decodeText };

/** SPEC "Wire types": a string of markup. It is stored as sent; whoever shows it has to clean it. */
export const htmlType: ValueType = { type: 'HTML/XML', storage: 'text', decode: decodeText };

/** SPEC "Wire types": JSON number, kept as the double it is. */
export const numberType: ValueType = {
  type: 'Number',
  storage: 'number',
  decode(value, field, className) {
    if (typeof value !== 'number') return mismatch(className, field, value);
    checkFinite(value);
    return value;
  },
};

/** SPEC "Wire types": JSON boolean. */
export const booleanType: ValueType = {
  type: 'Boolean',
  storage: 'boolean',
  decode(value, field, className) {
    return typeof value === 'boolean' ? value : mismatch(className, field, value);
  },
};
