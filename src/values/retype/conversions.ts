import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Field, FieldType } from '../../schema/model.ts';
import { parseIsoDate } from '../json/iso.ts';
import { checkText } from '../json/json-input.ts';
import { checkKeys } from '../json/keys.ts';
import { wireDate, wirePointer } from '../json/wire.ts';
import type { StoredValue } from '../types/type.ts';

/** The type of a field. */
export type Typed = Pick<Field, 'type' | 'targetClass'>;

/** Returns the stored value in another type; `null` for one that counts as absent there; `undefined` if it cannot be converted. */
export type Conversion = (value: Exclude<StoredValue, null>) => StoredValue | undefined;

type Converter = (value: never, from: Typed) => StoredValue | undefined;

/** Decimal numbers as JSON and programs write them, with spaces around. */
const decimal = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
/** Largest distance of a date from 1970 in milliseconds (ECMA-262, "Time Values and Time Range"). */
const MAX_INSTANT_MS = 8.64e15;

const same = (value: StoredValue) => value;

function numberOf(text: string): number | null | undefined {
  if (text.trim() === '') return null;
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

function dateOf(text: string): number | null | undefined {
  return text.trim() === '' ? null : (parseIsoDate(text.trim()) ?? undefined);
}

function booleanOf(text: string): boolean | null | undefined {
  const word = text.trim().toLowerCase();
  if (word === '') return null;
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : undefined;
}

function objectOf(text: string): string | null | undefined {
  if (text.trim() === '') return null;
  try {
    checkText(text);
    const value = JSON.parse(text) as JsonValue;
    if (!isJsonObject(value) || Object.hasOwn(value, '__type')) return undefined;
    checkKeys(value);
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Whole milliseconds since 1970. */
const instantOf = (value: number) => (Number.isInteger(value) && Math.abs(value) <= MAX_INSTANT_MS ? value : undefined);

const asElement =
  (toWire: (value: never, from: Typed) => JsonValue): Converter =>
  (value, from) =>
    JSON.stringify([toWire(value, from)]);

const texts: Readonly<Partial<Record<FieldType, Converter>>> = {
  'HTML/XML': same,
  Number: numberOf,
  Boolean: booleanOf,
  Date: dateOf,
  /** Whether the record exists is decided by the engines. */
  Pointer: (id: string) => (id === '' ? null : id),
  Array: asElement((text: string) => text),
  Object: objectOf,
};

/** By the present type, then by the new one. Reference: schemas.md#conversions. */
const conversions: ReadonlyMap<FieldType, Readonly<Partial<Record<FieldType, Converter>>>> = new Map<
  FieldType,
  Readonly<Partial<Record<FieldType, Converter>>>
>([
  ['String', texts],
  ['HTML/XML', { String: same }],
  [
    'Number',
    {
      String: (value: number) => String(value),
      Boolean: (value: number) => (value === 0 ? false : value === 1 ? true : undefined),
      Date: instantOf,
      Array: asElement((value: number) => value),
    },
  ],
  [
    'Boolean',
    {
      String: (value: boolean) => String(value),
      Number: (value: boolean) => (value ? 1 : 0),
      Array: asElement((value: boolean) => value),
    },
  ],
  [
    'Date',
    { String: (value: number) => isoText(value), Number: same, Array: asElement((value: number) => wireDate(isoText(value))) },
  ],
  [
    'Pointer',
    {
      String: same,
      Pointer: same,
      Array: asElement((id: string, { targetClass = '' }) => wirePointer(targetClass, id)),
    },
  ],
  ['Array', { String: same }],
  ['Object', { String: same, Array: (text: string) => `[${text}]` }],
]);

/** Returns how values of one type become those of another; `null` if they cannot. Reference: schemas.md#conversions. */
export function conversionOf(from: Typed, to: Typed): Conversion | null {
  const convert = conversions.get(from.type)?.[to.type];
  return convert ? (value) => convert(value as never, from) : null;
}
