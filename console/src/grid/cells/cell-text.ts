import type { FieldModel, PointerNames } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../../src/kernel/json.ts';
import type { Format } from '../../model/format.ts';
import { givenName, withoutOverrides } from '../../model/text.ts';
import { dateOf, fileOf, pointerName, pointerOf } from '../../model/values.ts';

/** Long enough for any cell; the record's page shows the rest. */
const MAX_TEXT = 240;

/** How values are written in a cell. */
export interface TextContext {
  readonly format: Format;
  readonly yes: string;
  readonly no: string;
}

/** Returns the value of a field, with the service's bare timestamps as Dates. */
export function fieldValue(record: JsonObject, field: string): JsonValue {
  return (Object.hasOwn(record, field) ? record[field] : undefined) ?? null;
}

/** Returns whether a cell has nothing to show. */
export function isBlank(value: JsonValue): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Returns a value as text, for its cell and for copying, without a limit of length. */
export function cellText(value: JsonValue, field: FieldModel, names: PointerNames, context: TextContext): string {
  if (isBlank(value)) return '';
  if (typeof value === 'boolean') return value ? context.yes : context.no;
  if (typeof value === 'number') return context.format.number(value);
  if (Array.isArray(value)) {
    const parts = value.map((one) =>
      Array.isArray(one) ? JSON.stringify(one) : cellText(one, { ...field, type: 'Object' }, names, context),
    );
    return parts.join(', ');
  }
  if (field.type === 'Date') {
    const date = dateOf(value);
    if (date) return context.format.date(date);
  }
  if (typeof value === 'string') return value;
  return objectText(value, names, context);
}

function objectText(value: JsonValue, names: PointerNames, context: TextContext): string {
  const pointer = pointerOf(value);
  if (pointer) return pointerName(pointer, names) ?? pointer.objectId;
  const file = fileOf(value);
  if (file) return givenName(file.name);
  const date = dateOf(value);
  return date ? context.format.date(date) : JSON.stringify(value);
}

/** Returns a text on one line, without direction overrides, cut to the longest useful length at a character border. */
export function lineOf(text: string): string {
  const line = text.length > MAX_TEXT * 2 ? text.slice(0, MAX_TEXT * 2) : text;
  const flat = withoutOverrides(line).replace(/\s+/g, ' ').trim();
  return flat.length > MAX_TEXT ? `${[...flat].slice(0, MAX_TEXT).join('')}…` : flat;
}

/** Returns the visible text of HTML. The HTML is never parsed as HTML. */
export function textOfHtml(html: string): string {
  return html
    .slice(0, MAX_TEXT * 8)
    .replace(/<[^>]{0,500}>/g, ' ')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
