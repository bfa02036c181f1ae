import type { JsonObject } from '../../../kernel/json.ts';
import { isoText } from '../../../kernel/time.ts';
import type { Field, FieldType } from '../../../schema/model.ts';
import { isOperator, parseIsoDate, valueTypeOf } from '../../../values/index.ts';
import { wireDate } from '../../../values/json/wire.ts';
import { dateType, decodeText } from '../../../values/types/plain-types.ts';
import { mismatch } from '../../../values/types/type.ts';
import { bareId, type Coercion, ignore, pointer, type ValueSource } from './coercion.ts';

/** A text that is not a number, such as `1,500`, is stored as null. */
const number: Coercion = (value, field, className) => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? readNumber(value) : mismatch(className, field, value);
};

function readNumber(text: string): number | null {
  // `Number` would convert white space to 0.
  const parsed = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(parsed) ? parsed : null;
}

const monthFirst = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;

/** ISO 8601 text, `M/D/YYYY`, or a Date object. */
const date: Coercion = (value, field, className) => {
  const instant = typeof value === 'string' ? readDate(value) : dateType.decode(value, field, className);
  return typeof instant === 'number' ? wireDate(isoText(instant)) : mismatch(className, field, value);
};

function readDate(text: string): number | null {
  const [, month, day, year] = monthFirst.exec(text) ?? [];
  if (month === undefined || day === undefined) return parseIsoDate(text);
  return parseIsoDate(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
}

/** For `table_`: a File object. Only its name counts: its address could refer to a private file, which senders of forms may not read. */
const file: Coercion = (value, field, className) => {
  valueTypeOf(field).decode(value, field, className);
  return { __type: 'File', name: (value as JsonObject).name as string };
};

/** Array and Object: the value unchanged. Decoded here, since some values are validated but not written. Operators are rejected. */
const json: Coercion = (value, field, className) => {
  if (isOperator(value)) return mismatch(className, field, value);
  valueTypeOf(field).decode(value, field, className);
  return value;
};

/** Of texts, only `true` is true. */
const boolean: Coercion = (value, field, className) =>
  typeof value === 'string' ? value === 'true' : onlyBoolean(value, field, className);

/** `IsAccount`: texts are rejected. */
const onlyBoolean: Coercion = (value, field, className) =>
  typeof value === 'boolean' ? value : mismatch(className, field, value);

/** String and HTML/XML: a number becomes its text. */
const text: Coercion = decodeText;

type BySource = Readonly<Record<ValueSource, Coercion>>;

const anywhere = (coercion: Coercion): BySource => ({ lead: coercion, account: coercion, row: coercion });
const inRow = (coercion: Coercion): BySource => ({ lead: ignore, account: ignore, row: coercion });

/** Conversions by field type and source. Reference: functions.md#form-values. */
const coercions: Readonly<Record<FieldType, BySource>> = {
  String: anywhere(text),
  'HTML/XML': anywhere(text),
  Number: anywhere(number),
  Boolean: anywhere(boolean),
  Date: anywhere(date),
  Pointer: { lead: pointer, account: pointer, row: bareId },
  Array: anywhere(json),
  Object: anywhere(json),
  File: inRow(file),
  PrivateFile: inRow(file),
  Relation: anywhere(ignore),
  ACL: anywhere(ignore),
};

/** Returns the conversion for a field. */
export function coercionOf({ name, type }: Field, source: ValueSource): Coercion {
  const isStrict = type === 'Boolean' && name === 'IsAccount' && source !== 'row';
  return isStrict ? onlyBoolean : coercions[type][source];
}
