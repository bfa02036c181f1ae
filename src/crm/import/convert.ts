import { ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import type { Field } from '../../schema/model.ts';
import { parseRequestJson, readBooleanText, readNumberText } from '../../values/index.ts';
import { pointer } from '../wire/values.ts';
import { type Converted, type DateForm, readDate, wrong } from './dates.ts';
import { type Lookup, targetOf } from './lookups.ts';

/** How the values of a column are read. */
export interface Reading {
  readonly field: Field;
  readonly zone: string;
  /** The date format of the column, if one of its values proves it. */
  readonly dates: DateForm;
  /** For Pointers and lists of Pointers. */
  readonly lookup: Lookup | undefined;
}

/** Converts a value of a flat row to the type of the field; `null` for an empty one. */
export function convert(value: JsonValue, reading: Reading): Converted {
  if (isEmpty(value)) return null;
  if (reading.lookup && reading.field.type === 'Pointer') return pointerTo(value, reading.lookup);
  switch (reading.field.type) {
    case 'String':
    case 'HTML/XML':
      return typeof value === 'object' ? wrong(value, 'a text') : { value: String(value).trim() };
    case 'Number':
      return readNumber(value);
    case 'Boolean':
      return readBoolean(value);
    case 'Date':
      return readDate(value, reading);
    case 'Array':
      return readList(value, reading);
    case 'Object':
      return readObject(value);
    default:
      // Files are sent as an upload returned them; the write validates the rest.
      return isJsonObject(value) ? { value } : wrong(value, 'a File object, as an upload answers it');
  }
}

export const isEmpty = (value: JsonValue): boolean => value === null || (typeof value === 'string' && value.trim() === '');

function readNumber(value: JsonValue): Converted {
  if (typeof value === 'number') return { value };
  const number = typeof value === 'string' ? readNumberText(value) : null;
  return number === null ? wrong(value, 'a number such as 1234.5 or 1,234.50') : { value: number };
}

function readBoolean(value: JsonValue): Converted {
  if (typeof value === 'boolean') return { value };
  const found = typeof value === 'object' ? null : readBooleanText(String(value));
  return found === null ? wrong(value, 'yes or no, true or false, כן or לא') : { value: found };
}

const SEPARATOR = ';';
/** Maximum number of items in a list given as one text. */
export const MAX_ITEMS = 10_000;

/** Returns the items of a list: an array, or a text separated by `;`. A text with more than `MAX_ITEMS` items counts as one item. */
export function itemsOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value.filter((item) => !isEmpty(item));
  if (typeof value !== 'string') return [value];
  const items = value.split(SEPARATOR, MAX_ITEMS + 1);
  if (items.length > MAX_ITEMS) return [value];
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

function readList(value: JsonValue, { lookup }: Reading): Converted {
  const items = itemsOf(value);
  if (!lookup) return { value: [...items] };
  const ids = new Map<string, JsonValue>();
  for (const item of items) {
    const found = pointerTo(item, lookup);
    if (!found || 'fault' in found) return found;
    ids.set(JSON.stringify(found.value), found.value);
  }
  return { value: [...ids.values()] };
}

function pointerTo(value: JsonValue, lookup: Lookup): Converted {
  const target = targetOf(value, lookup.className);
  if (target === null) return wrong(value, `a name, an objectId or a Pointer of ${lookup.className}`);
  const ids = lookup.find(target);
  const [id] = ids;
  const text = JSON.stringify(target.slice(0, 100).toWellFormed());
  if (id === undefined) return { fault: `${lookup.className} has no ${text}` };
  if (ids.length > 1) return { fault: `${lookup.className} has several ${text}: ${ids.slice(0, 5).join(', ')}` };
  return { value: pointer(lookup.className, id) };
}

function readObject(value: JsonValue): Converted {
  if (isJsonObject(value)) return { value };
  try {
    const parsed = typeof value === 'string' ? parseRequestJson(value) : null;
    return isJsonObject(parsed) ? { value: parsed } : wrong(value, 'a JSON object');
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return wrong(value, `a JSON object. ${error.message}`);
  }
}
