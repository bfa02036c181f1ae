import type { JsonObject } from '../../../kernel/json.ts';
import { isoText } from '../../../kernel/time.ts';
import type { Field, FieldType } from '../../../schema/model.ts';
import { isOperator, parseIsoDate, valueTypeOf } from '../../../values/index.ts';
import { wireDate } from '../../../values/json/wire.ts';
import { dateType, decodeText } from '../../../values/types/plain-types.ts';
import { mismatch } from '../../../values/types/type.ts';
import { bareId, type Coercion, type Place, passOver, pointer } from './coercion.ts';

/** A text that is no number, such as `1,500`, is stored as null. */
const number: Coercion = (value, field, className) => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? readNumber(value) : mismatch(className, field, value);
};

function readNumber(text: string): number | null {
  // Nothing but white space would be 0.
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

/** `table_`: a File object, of which the name counts. The address may say where a private file is read; nobody may read it who sends forms. */
const file: Coercion = (value, field, className) => {
  valueTypeOf(field).decode(value, field, className);
  return { __type: 'File', name: (value as JsonObject).name as string };
};

/** Array and Object: the value as it is. It is decoded here, since not all that is checked is written. An operator is no value. */
const json: Coercion = (value, field, className) => {
  if (isOperator(value)) return mismatch(className, field, value);
  valueTypeOf(field).decode(value, field, className);
  return value;
};

/** Of texts `true` alone is true. */
const boolean: Coercion = (value, field, className) =>
  typeof value === 'string' ? value === 'true' : onlyBoolean(value, field, className);

/** `IsAccount`: no text is taken for a Boolean. */
const onlyBoolean: Coercion = (value, field, className) =>
  typeof value === 'boolean' ? value : mismatch(className, field, value);

/** String and HTML/XML: a number as its text. */
const text: Coercion = decodeText;

type ByPlace = Readonly<Record<Place, Coercion>>;

const anywhere = (coercion: Coercion): ByPlace => ({ lead: coercion, account: coercion, row: coercion });
const inRow = (coercion: Coercion): ByPlace => ({ lead: passOver, account: passOver, row: coercion });

/** SPEC "Form-layer value coercion"; docs/decisions.md "Functions and forms". */
const coercions: Readonly<Record<FieldType, ByPlace>> = {
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
  Relation: anywhere(passOver),
  ACL: anywhere(passOver),
};

/** How a field takes what a form sends for it. */
export function coercionOf({ name, type }: Field, place: Place): Coercion {
  const isStrict = type === 'Boolean' && name === 'IsAccount' && place !== 'row';
  return isStrict ? onlyBoolean : coercions[type][place];
}
