import { type JsonObject, type JsonValue, isJsonObject, own } from '../kernel/json.ts';
import { isoText } from '../kernel/time.ts';
import type { Storage } from './type.ts';

/** One member of the JSON objects that a row writer makes. Plain data, so that it can cross to a reader thread. */
export interface ColumnShape {
  /** Key in the JSON object. */
  readonly name: string;
  /** How the value lies in the row; `instant` is a date shown as bare ISO text (createdAt, updatedAt). */
  readonly storage: Storage | 'instant' | 'acl';
  /** Class of a Pointer or Relation. */
  readonly targetClass?: string;
  /** A null is written as `null` instead of being left out. */
  readonly keepNull?: boolean;
  /** json only: write these places alone (`keys=obj.a.b`). */
  readonly paths?: readonly (readonly string[])[];
}

export interface RowShape {
  /** Set for expanded records, which say their class (`__type: Object`). */
  readonly expandedClass?: string;
  readonly columns: readonly ColumnShape[];
}

/** JSON text for the value of a column that `include` expands; `null` to write the value as it is stored. */
export type Expansion = (value: string) => string | null;

/** Writes one row (stored values in the order of the shape's columns, Relations left out) as JSON text. */
export type RowWriter = (row: readonly unknown[], expansions?: ReadonlyArray<Expansion | undefined>) => string;

/** What the row writer does with a value; small integers, since it branches on them for every value of every row. */
const kind = { text: 0, number: 1, boolean: 2, date: 3, instant: 4, pointer: 5, json: 6, acl: 7, jsonPaths: 8 } as const;

/**
 * Compiles a shape. Lists spend most of their time here: stored JSON is copied, never parsed, and each row costs one loop over small integers.
 */
export function rowWriter(shape: RowShape): RowWriter {
  const inRow = shape.columns.filter((column) => column.storage !== 'relation');
  const keys = inRow.map((column) => `,${JSON.stringify(column.name)}:`);
  const firstKeys = keys.map((key) => key.slice(1));
  const kinds = inRow.map((column) => (column.paths ? kind.jsonPaths : kind[column.storage as keyof typeof kind]));
  const heads = inRow.map((column) => `{"__type":"Pointer","className":${JSON.stringify(column.targetClass ?? '')},"objectId":`);
  const keepNull = inRow.map((column) => column.keepNull === true);
  const head = shape.expandedClass === undefined ? '{' : `{"__type":"Object","className":${JSON.stringify(shape.expandedClass)}`;
  const relations = shape.columns
    .filter((column) => column.storage === 'relation')
    .map((column) => `${JSON.stringify(column.name)}:{"__type":"Relation","className":${JSON.stringify(column.targetClass)}}`);
  const count = kinds.length;

  return (row, expansions) => {
    let out = head;
    for (let i = 0; i < count; i++) {
      const value = row[i];
      if (value === null && kinds[i] !== kind.acl && !keepNull[i]) continue;
      out += out === '{' ? firstKeys[i] : keys[i];
      if (value === null) {
        out += kinds[i] === kind.acl ? '{}' : 'null';
        continue;
      }
      const expanded = expansions?.[i]?.(value as string);
      if (expanded != null) {
        out += expanded;
        continue;
      }
      switch (kinds[i]) {
        case kind.text:
          out += JSON.stringify(value);
          break;
        case kind.number:
          out += value;
          break;
        case kind.boolean:
          out += value ? 'true' : 'false';
          break;
        case kind.date:
          out += `{"__type":"Date","iso":"${isoText(value as number)}"}`;
          break;
        case kind.instant:
          out += `"${isoText(value as number)}"`;
          break;
        case kind.pointer:
          out += `${heads[i]}${JSON.stringify(value)}}`;
          break;
        case kind.jsonPaths:
          out += JSON.stringify(project(JSON.parse(value as string), inRow[i]?.paths ?? []));
          break;
        default:
          out += value;
      }
    }
    for (const relation of relations) out += out === '{' ? relation : `,${relation}`;
    return `${out}}`;
  };
}

/** The value with only the given places in it. */
function project(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const [first, ...rest] of paths) {
    const part = first === undefined ? undefined : own(value, first);
    if (first === undefined || part === undefined) continue;
    const siblings = paths.filter((path) => path[0] === first).map((path) => path.slice(1));
    out[first] = rest.length === 0 ? part : project(part, siblings);
  }
  return out;
}
