import { mismatch } from './mismatch.ts';
import type { ValueType } from './type.ts';

/** SPEC "Wire types": JSON boolean. */
export const booleanType: ValueType = {
  type: 'Boolean',
  storage: 'boolean',
  decode(value, field, className) {
    return typeof value === 'boolean' ? value : mismatch(className, field, value);
  },
};
