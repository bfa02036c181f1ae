import { checkFinite } from './keys.ts';
import { mismatch } from './mismatch.ts';
import type { ValueType } from './type.ts';

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
