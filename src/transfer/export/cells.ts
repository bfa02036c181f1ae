import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { FieldType } from '../../schema/model.ts';

/** Formats a value in wire form as a cell of CSV. Reference: export.md#cells-of-csv. */
export type WriteCell = (value: JsonValue | undefined) => string;

/**
 * Returns the formatter for a type: Dates as ISO 8601, Pointers by objectId, structured values as JSON. An absent value is an empty cell, an empty
 * text `""`.
 * @param type `null` if it varies, as inside an Object
 * @param raw whether texts that a spreadsheet would read as a formula stay unchanged
 */
export function cellWriter(type: FieldType | null, raw: boolean): WriteCell {
  const text = raw ? quoted : guarded;
  // A field may be recreated with another type during the export, so each value is formatted by its own type.
  const plain = (value: JsonValue) => (typeof value === 'string' ? text(value) : quoted(JSON.stringify(value)));
  const byMember = (name: string, wireTypes: ReadonlySet<unknown>) => (value: JsonValue) => {
    const member = isJsonObject(value) && wireTypes.has(own(value, '__type')) ? own(value, name) : undefined;
    return typeof member === 'string' ? text(member) : plain(value);
  };
  const writers: Partial<Record<FieldType, (value: JsonValue) => string>> = {
    Date: byMember('iso', new Set(['Date'])),
    // An included record is an Object.
    Pointer: byMember('objectId', new Set(['Pointer', 'Object'])),
  };
  const write = (type && writers[type]) ?? plain;
  return (value) => (value === undefined || value === null ? '' : write(value));
}

/** Quotes by RFC 4180, only where required, and an empty text. CSV packages take two to three times as long per row. */
function quoted(text: string): string {
  if (text === '') return '""';
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Texts that a spreadsheet reads as a formula, including those escaped already. */
const formula = /^'*[=+\-@\t\r]/;
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const phone = /^\+[\d(][\d ()./-]*$/;
/** Number of digits of an international phone number (E.164). */
const phoneDigits = /^(?:\D*\d){7,15}\D*$/;

function guarded(text: string): string {
  if (!formula.test(text)) return quoted(text);
  const isHarmless = !text.startsWith("'") && (number.test(text) || (phone.test(text) && phoneDigits.test(text)));
  return quoted(isHarmless ? text : `'${text}`);
}
