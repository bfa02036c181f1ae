import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { FieldType } from '../../schema/model.ts';

/** Writes a value in wire form as a cell of CSV (CONTRACT "Export, import, migration"). */
export type WriteCell = (value: JsonValue | undefined) => string;

/**
 * How the values of a type are written: Dates as ISO, Pointers by objectId, what has parts as JSON. No value is an empty cell, an empty text `""`.
 * @param type `null`: whatever is found, as inside an Object
 * @param raw whether texts that a spreadsheet takes for a formula stay as they are
 */
export function cellWriter(type: FieldType | null, raw: boolean): WriteCell {
  const text = raw ? quoted : guarded;
  // Also of a field that was made again with another type since the export began: each value is written by what it is.
  const plain = (value: JsonValue) => (typeof value === 'string' ? text(value) : quoted(JSON.stringify(value)));
  const byMember = (name: string, wireTypes: ReadonlySet<unknown>) => (value: JsonValue) => {
    const member = isJsonObject(value) && wireTypes.has(own(value, '__type')) ? own(value, name) : undefined;
    return typeof member === 'string' ? text(member) : plain(value);
  };
  const writers: Partial<Record<FieldType, (value: JsonValue) => string>> = {
    Date: byMember('iso', new Set(['Date'])),
    // One that is included is an object.
    Pointer: byMember('objectId', new Set(['Pointer', 'Object'])),
  };
  const write = (type && writers[type]) ?? plain;
  return (value) => (value === undefined || value === null ? '' : write(value));
}

/** RFC 4180: quotes where a reader needs them, and about an empty text. Packages that write CSV take two to three times as long for a row. */
function quoted(text: string): string {
  if (text === '') return '""';
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet takes a formula by, and the mark that takes it off. */
const formula = /^'*[=+\-@\t\r]/;
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const phone = /^\+[\d(][\d ()./-]*$/;
/** Digits of a phone with its country, at the least and at the most (E.164). */
const phoneDigits = /^(?:\D*\d){7,15}\D*$/;

function guarded(text: string): string {
  if (!formula.test(text)) return quoted(text);
  const isHarmless = !text.startsWith("'") && (number.test(text) || (phone.test(text) && phoneDigits.test(text)));
  return quoted(isHarmless ? text : `'${text}`);
}
