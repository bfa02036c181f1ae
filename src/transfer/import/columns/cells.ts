import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isoText } from '../../../kernel/time.ts';
import { type Field, typeText } from '../../../schema/model.ts';
import {
  checkText,
  type DateOrder,
  parseRequestJson,
  readBooleanText,
  readDateText,
  readNumberText,
} from '../../../values/index.ts';

/** Parses a cell into the wire form of its field. @throws schemaMismatch (111), invalidJson (107) */
export type CellReader = (cell: string) => JsonValue;

/** Apostrophes that keep a spreadsheet from reading a text as a formula. */
const guarded = /^'+[=+\-@\t\r]/;
const APOSTROPHE = 39;

/** Removes the apostrophe guard of a cell. @throws invalidJson (107) for characters that no text may contain */
export function unguarded(cell: string): string {
  checkText(cell);
  return cell.charCodeAt(0) === APOSTROPHE && guarded.test(cell) ? cell.slice(1) : cell;
}

/** Length of `2024-05-06T07:08:09.010Z`. */
const isoLength = 24;

/** Maximum number of characters of a cell in an error. */
const MAX_SHOWN = 60;

export const quotedCell = (cell: string): string => JSON.stringify(cell.slice(0, MAX_SHOWN).toWellFormed());

/** Returns the parser for the cells of a field. @param dates order of day, month and year in dates that are not ISO 8601 */
export function cellReader(
  className: string,
  field: Pick<Field, 'name' | 'type' | 'targetClass'>,
  dates: DateOrder | undefined,
): CellReader {
  const { name, type, targetClass } = field;
  const refuse = (cell: string): never => fail('schemaMismatch', className, name, typeText(type, targetClass), quotedCell(cell));
  switch (type) {
    case 'String':
    case 'HTML/XML':
      return (cell) => cell;
    case 'Number':
      return (cell) => readNumberText(cell) ?? refuse(cell);
    case 'Boolean':
      return (cell) => readBooleanText(cell) ?? refuse(cell);
    case 'Date':
      return (cell) => {
        // Fast path: the write validates it.
        if (cell.length === isoLength && cell.endsWith('Z')) return { __type: 'Date', iso: cell };
        const instant = readDateText(cell, dates);
        return typeof instant === 'number' ? { __type: 'Date', iso: isoText(instant) } : refuse(cell);
      };
    case 'Pointer':
      return (cell) => {
        const id = cell.trim();
        if (!id.startsWith('{'))
          return id === '' ? refuse(cell) : { __type: 'Pointer', className: targetClass ?? '', objectId: id };
        return readJson(cell);
      };
    default:
      return (cell) => {
        const value = readJson(cell);
        // The write validates the rest.
        return isJsonObject(value) || Array.isArray(value) ? value : refuse(cell);
      };
  }
}

const readJson = (cell: string): JsonValue => parseRequestJson(cell, limits.jsonDepth, Number.POSITIVE_INFINITY);
