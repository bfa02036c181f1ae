import { isOperator, valueTypeOf } from '../../../values/index.ts';
import { mismatch } from '../../../values/mismatch.ts';
import type { Coercion } from './type.ts';

/** Array and Object: the value as it is. It is decoded here, since not all that is checked is written. An operator is no value. */
export const json: Coercion = (value, field, className) => {
  if (isOperator(value)) return mismatch(className, field, value);
  valueTypeOf(field).decode(value, field, className);
  return value;
};
