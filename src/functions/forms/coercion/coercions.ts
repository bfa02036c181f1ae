import type { Field, FieldType } from '../../../schema/model.ts';
import { boolean, onlyBoolean } from './boolean.ts';
import { date } from './date.ts';
import { file } from './file.ts';
import { json } from './json.ts';
import { number } from './number.ts';
import { bareId, pointer } from './pointer.ts';
import { text } from './text.ts';
import { type Coercion, type Place, passOver } from './type.ts';

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
