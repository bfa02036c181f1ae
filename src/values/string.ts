import type { JsonValue } from '../kernel/json.ts';
import type { Field } from '../schema/model.ts';
import { checkFinite } from './keys.ts';
import { mismatch } from './mismatch.ts';
import type { ValueType } from './type.ts';

/** SPEC "Limits": a string field converts a number silently. Shared by String and HTML/XML. */
export function decodeText(value: JsonValue, field: Field, className: string): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return mismatch(className, field, value);
  checkFinite(value);
  return String(value);
}

/** SPEC "Wire types": JSON string. */
export const stringType: ValueType = { type: 'String', storage: 'text', decode: decodeText };
