import { mismatch } from '../../../values/mismatch.ts';
import type { Coercion } from './type.ts';

/** Of texts `true` alone is true. */
export const boolean: Coercion = (value, field, className) =>
  typeof value === 'string' ? value === 'true' : onlyBoolean(value, field, className);

/** `IsAccount`: no text is taken for a Boolean. */
export const onlyBoolean: Coercion = (value, field, className) =>
  typeof value === 'boolean' ? value : mismatch(className, field, value);
