import { mismatch } from '../../../values/mismatch.ts';
import type { Coercion } from './type.ts';

/** A text that is no number, such as `1,500`, is stored as null. */
export const number: Coercion = (value, field, className) => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? read(value) : mismatch(className, field, value);
};

function read(text: string): number | null {
  // Nothing but white space would be 0.
  const parsed = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(parsed) ? parsed : null;
}
