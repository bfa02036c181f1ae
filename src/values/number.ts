import { mismatch } from './mismatch.ts';
import type { ValueType } from './type.ts';

/** SPEC "Wire types": JSON number, kept as the double it is. */
export const numberType: ValueType = {
  type: 'Number',
  storage: 'number',
  decode(value, field, className) {
    return typeof value === 'number' ? value : mismatch(className, field, value);
  },
};
