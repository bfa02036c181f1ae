import { isoText } from '../../../kernel/time.ts';
import { parseIsoDate } from '../../../values/index.ts';
import { wireDate } from '../../../values/json/wire.ts';
import { dateType } from '../../../values/types/date.ts';
import { mismatch } from '../../../values/types/type.ts';
import type { Coercion } from './type.ts';

const monthFirst = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;

/** ISO 8601 text, `M/D/YYYY`, or a Date object. */
export const date: Coercion = (value, field, className) => {
  const instant = typeof value === 'string' ? read(value) : dateType.decode(value, field, className);
  return typeof instant === 'number' ? wireDate(isoText(instant)) : mismatch(className, field, value);
};

function read(text: string): number | null {
  const [, month, day, year] = monthFirst.exec(text) ?? [];
  if (month === undefined || day === undefined) return parseIsoDate(text);
  return parseIsoDate(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
}
