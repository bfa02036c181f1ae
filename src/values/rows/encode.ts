import { escapeJson, isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { isoText } from '../../kernel/time.ts';
import { type FileForm, fileWriter } from '../types/file-text.ts';
import type { Storage } from '../types/type.ts';
import { type PlaceTree, placeTreeOf } from './place-tree.ts';

/** One member of the JSON objects that a row writer produces. Plain data, so that it can be sent to a reader thread. */
export interface ColumnShape {
  /** Key in the JSON object. */
  readonly name: string;
  /** How the value is stored in the row; `instant` is a date shown as bare ISO text (createdAt, updatedAt). */
  readonly storage: Storage | 'instant' | 'acl' | 'file';
  /** Class of a Pointer or Relation. */
  readonly targetClass?: string;
  /** Of a file. */
  readonly file?: FileForm;
  /** Whether a null is written as `null` instead of being left out. */
  readonly keepNull?: boolean;
  /** For json only: write only these places (`keys=obj.a.b`). */
  readonly paths?: readonly (readonly string[])[];
}

/** The JSON objects that a row writer produces. */
export interface RowShape {
  /** Set for expanded records, which carry their class (`__type: Object`). */
  readonly expandedClass?: string;
  /** Set for records that carry their class besides, since the client may not know it (`redirectClassNameForKey`). */
  readonly outputClass?: string;
  readonly columns: readonly ColumnShape[];
}

/** Returns the JSON text for the value of a column that `include` expands; `null` to write the value as stored. */
export type Expansion = (value: string) => string | null;

/** Writes one row (stored values in the order of the shape's columns, Relations left out) as JSON text. */
export type RowWriter = (row: readonly unknown[], expansions?: ReadonlyArray<Expansion | undefined>) => string;

/** How the row writer treats a value. Small integers, because it branches on them for every value of every row. */
const kind = {
  text: 0,
  number: 1,
  boolean: 2,
  date: 3,
  instant: 4,
  pointer: 5,
  json: 6,
  acl: 7,
  jsonPaths: 8,
  file: 9,
  escapedText: 10,
  escapedJson: 11,
} as const;

/** Returns the writer of a shape. Several readers may use it at the same time. */
export const rowWriter: (shape: RowShape) => RowWriter = memoByObject((shape) => compileWriter(shape, false));

/** Returns a writer whose text stands inside a JSON string: escaping what `rowWriter` writes takes longer than writing it. */
export const escapedRowWriter: (shape: RowShape) => RowWriter = memoByObject((shape) => compileWriter(shape, true));

function startOf({ expandedClass, outputClass }: RowShape): string {
  if (expandedClass !== undefined) return `{"__type":"Object","className":${JSON.stringify(expandedClass)}`;
  return outputClass === undefined ? '{' : `{"className":${JSON.stringify(outputClass)}`;
}

/**
 * Compiles a shape. Lists spend most of their time here: stored JSON is copied, never parsed; each row costs one loop over small integers;
 * and Pointers and dates, which often repeat from row to row, are only written again if they differ from the last.
 */
function compileWriter(shape: RowShape, isEscaped: boolean): RowWriter {
  const inRow = shape.columns.filter((column) => column.storage !== 'relation');
  const kinds = inRow.map((column) => kindOf(column, isEscaped));
  const inPlace = isEscaped ? escapeJson : (text: string) => text;
  const keepNull = inRow.map((column) => column.keepNull === true);
  const start = inPlace(startOf(shape));
  // If the first member is always present, its comma is left out; otherwise (rare shapes) it is cut off afterwards.
  const opened = start !== '{' || inRow[0]?.name === 'objectId' || keepNull[0] === true;
  const keys = inRow.map(
    ({ name }, index) => `${index === 0 && opened && start === '{' ? '' : ','}${inPlace(JSON.stringify(name))}:`,
  );
  const heads = inRow.map((column, index) => keys[index] + inPlace(opening(column)));
  const nulls = inRow.map(({ storage }, index) => {
    if (storage === 'acl') return `${keys[index]}{}`;
    return keepNull[index] ? `${keys[index]}null` : '';
  });
  const places = inRow.map(({ paths }) => paths && placeTreeOf(paths));
  const files = inRow.map(({ file }) => file && fileWriter(file));
  const lastValues: unknown[] = inRow.map(() => undefined);
  const lastTexts = inRow.map(() => '');
  const end = `${shape.columns
    .filter((column) => column.storage === 'relation')
    .map((column) => inPlace(relationMember(column)))
    .join('')}}`;
  const count = kinds.length;

  return (row, expansions) => {
    let out = start;
    for (let i = 0; i < count; i++) {
      const value = row[i];
      if (value === null) {
        out += nulls[i];
        continue;
      }
      const expanded = expansions?.[i]?.(value as string);
      if (expanded != null) {
        out += keys[i] + inPlace(expanded);
        continue;
      }
      switch (kinds[i]) {
        case kind.text:
          out += heads[i] + quote(value as string);
          break;
        case kind.boolean:
          out += heads[i] + (value ? 'true' : 'false');
          break;
        case kind.date:
        case kind.instant:
        case kind.pointer:
          if (value !== lastValues[i]) {
            lastValues[i] = value;
            lastTexts[i] = heads[i] + inPlace(wrapped(kinds[i] as number, value));
          }
          out += lastTexts[i];
          break;
        case kind.jsonPaths:
          out += heads[i] + inPlace(JSON.stringify(project(JSON.parse(value as string), places[i] as PlaceTree)));
          break;
        case kind.file:
          out += (heads[i] as string) + inPlace(files[i]?.(value as string, row) ?? (value as string));
          break;
        case kind.escapedText:
          out += heads[i] + escapedQuote(value as string);
          break;
        case kind.escapedJson:
          out += heads[i] + escapeJson(value as string);
          break;
        default:
          out += (heads[i] as string) + value;
      }
    }
    const text = out + end;
    return !opened && text.startsWith('{,') ? `{${text.slice(2)}` : text;
  };
}

function kindOf({ paths, storage }: ColumnShape, isEscaped: boolean): number {
  if (paths) return kind.jsonPaths;
  if (isEscaped && storage === 'text') return kind.escapedText;
  return isEscaped && (storage === 'json' || storage === 'acl') ? kind.escapedJson : kind[storage as keyof typeof kind];
}

function opening({ storage, targetClass }: ColumnShape): string {
  if (storage === 'date') return '{"__type":"Date","iso":"';
  if (storage === 'pointer') return `{"__type":"Pointer","className":${JSON.stringify(targetClass ?? '')},"objectId":`;
  return storage === 'instant' ? '"' : '';
}

/** Returns what follows the opening of a Pointer or date. */
function wrapped(how: number, value: unknown): string {
  if (how === kind.pointer) return `${quote(value as string)}}`;
  return isoText(value as number) + (how === kind.date ? '"}' : '"');
}

function relationMember({ name, targetClass }: ColumnShape): string {
  return `,${JSON.stringify(name)}:{"__type":"Relation","className":${JSON.stringify(targetClass)}}`;
}

/** Returns the JSON text of a string. */
function quote(text: string): string {
  return isPlain(text) ? `"${text}"` : JSON.stringify(text);
}

/** Like `quote`, for a text that stands inside a JSON string. */
function escapedQuote(text: string): string {
  return isPlain(text) ? `\\"${text}\\"` : escapeJson(JSON.stringify(text));
}

/** Whether a string is short and has nothing to escape, as the great majority: one check per character. */
function isPlain(text: string): boolean {
  if (text.length > 200) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

/** Returns the value with only the given places in it. */
function project(value: JsonValue, places: PlaceTree): JsonValue {
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const [name, below] of places) {
    const part = own(value, name);
    if (part !== undefined) out[name] = below ? project(part, below) : part;
  }
  return out;
}
