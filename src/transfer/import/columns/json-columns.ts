import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { isSilencingFlag } from '../../../records/index.ts';
import { rootOf } from '../../../schema/model.ts';
import { parseRequestJson } from '../../../values/index.ts';
import type { Line } from '../source/lines.ts';
import { documentOf } from './mongo.ts';
import { type Link, none, type ReadRow, type SourceRow } from './row.ts';
import {
  type FieldMap,
  MAX_LISTED,
  nameOf,
  refuseTwice,
  refuseUnknown,
  shown,
  type Target,
  type Targets,
  type Unknown,
} from './targets.ts';

/** Maximum number of distinct columns; more indicate that the file has another format. */
const MAX_COLUMNS = 100_000;

/** How the records of a JSON file are parsed. */
export interface JsonOptions {
  readonly className: string;
  readonly targets: Targets;
  readonly map: FieldMap;
  /** `document`: MongoDB; `object`: Parse, whose additional types become Objects; `row`: the body of a POST. */
  readonly shape: 'row' | 'object' | 'document';
  /** Word for a record in messages. */
  readonly unit: 'line' | 'record';
  readonly newFields: boolean;
  /** Maximum number of characters of a record. */
  readonly longest: number;
}

/** Result of examining a JSON file. */
export interface JsonPlan {
  readonly rows: number;
  row(number: number, text: Line): SourceRow;
}

/**
 * Examines a whole file for columns that its table lacks. Lines that are not JSON objects are skipped here and rejected one by one later.
 * @param onProgress called with the number of rows so far
 * @throws OperatorError naming these columns, their first occurrences and the nearest fields
 */
export async function planJson(
  blocks: AsyncIterable<readonly Line[]>,
  options: JsonOptions,
  onProgress: (rows: number) => void,
): Promise<JsonPlan> {
  const { newFields, map, targets, unit, className, longest } = options;
  const isExamined = !newFields || map.size > 0;
  const missing = new Map<string, Unknown & { readonly at: string }>();
  const found = new Map<string, Target>();
  let rows = 0;
  let number = 0;
  for await (const block of blocks) {
    for (const line of block) {
      number++;
      if (line?.trim() !== '') rows++;
      if (!isExamined || (line?.length ?? 0) > longest) continue;
      for (const name of namesOf(line, options)) {
        if (found.has(name) || missing.has(name)) continue;
        const target = targets.of(name);
        if ('kind' in target) found.set(name, target);
        else if (missing.size <= MAX_LISTED) missing.set(name, { ...target, at: `${unit} ${number}` });
        if (found.size > MAX_COLUMNS) throw new OperatorError('the file has too many different columns. Nothing was imported');
      }
    }
    onProgress(rows);
  }
  refuseUnknown(className, [...missing.values()]);
  refuseTwice(
    [...map.keys()].flatMap((column): [string, Target][] => (found.has(column) ? [[column, found.get(column) as Target]] : [])),
  );
  return {
    rows,
    row: (at, text) => new JsonSourceRow(at, (text?.length ?? 0) > longest ? null : text, options, map.size > 0 ? found : null),
  };
}

/** Returns the fields that a line sets, without silencing flags; `a.b` counts as `a`. */
function namesOf(line: Line, { shape, map }: JsonOptions): string[] {
  let row: JsonObject;
  try {
    const value = JSON.parse(line?.replace(/^\uFEFF/, '') ?? '') as JsonValue;
    if (!isJsonObject(value)) return [];
    row = shape === 'document' ? documentOf(value).body : value;
  } catch {
    return [];
  }
  return Object.keys(row)
    .filter((key) => !isSilencingFlag(key))
    .map((key) => (map.has(key) ? key : (key.split('.', 1)[0] ?? key)));
}

class JsonSourceRow implements SourceRow {
  readonly number: number;
  readonly length: number;
  readonly #text: Line;
  readonly #options: JsonOptions;
  /** By column, if the map redirects some. */
  readonly #targets: ReadonlyMap<string, Target> | null;

  constructor(number: number, text: Line, options: JsonOptions, targets: ReadonlyMap<string, Target> | null) {
    this.number = number;
    this.#text = text;
    this.length = text?.length ?? 0;
    this.#options = options;
    this.#targets = targets;
  }

  read(): ReadRow {
    const { unit, longest } = this.#options;
    if (this.#text === null) return fail('rowTooLong', `${unit} ${this.number}`, Math.min(longest, limits.bodyBytes));
    const value = parseRequestJson(this.#text, limits.jsonDepth, Number.POSITIVE_INFINITY);
    if (!isJsonObject(value)) return fail('invalidJson', `a ${unit} must hold one JSON object`);
    if (this.#holdsExport(value)) return fail('invalidJson', 'the line is an export of Parse: import it as a file of its own');
    const { body, leftOut } = this.#shaped(value);
    const read = this.#targets ? this.#mapped(body, this.#targets) : { body, links: none };
    const { withheld } = this.#options.targets;
    if (withheld.length === 0) return { ...read, leftOut };
    const isWithheld = (name: string) => withheld.includes(rootOf(name));
    const without = Object.fromEntries(Object.entries(read.body).filter(([name]) => !isWithheld(name)));
    const names = new Set(Object.keys(read.body).filter(isWithheld).map(rootOf));
    return { ...read, body: without, leftOut: [...leftOut, ...names] };
  }

  toJson(hides?: (name: string) => boolean): JsonValue {
    let value: JsonValue;
    try {
      // Too deeply nested JSON could not be serialised again, so the raw text is returned.
      value = parseRequestJson(this.#text ?? 'null', limits.jsonDepth, Number.POSITIVE_INFINITY);
    } catch {
      return hides ? null : this.#text;
    }
    if (!hides) return value;
    if (!isJsonObject(value)) return null;
    const isHidden = (name: string) => {
      const target = this.#targets?.get(name);
      return hides(rootOf(name)) || (target !== undefined && hides(nameOf(target) ?? name));
    };
    return Object.fromEntries(Object.entries(value).filter(([name]) => !isHidden(name)));
  }

  #shaped(value: JsonObject): { readonly body: JsonObject; readonly leftOut: readonly string[] } {
    const { shape } = this.#options;
    if (shape === 'document') return documentOf(value, (name) => this.#options.targets.field(name)?.type);
    return { body: shape === 'object' ? plainObject(value) : value, leftOut: none };
  }

  #mapped(row: JsonObject, targets: ReadonlyMap<string, Target>): { readonly body: JsonObject; readonly links: readonly Link[] } {
    const links: Link[] = [];
    const members = Object.entries(row).flatMap(([name, value]): [string, JsonValue][] => {
      const target = targets.get(name);
      if (!target) return [[name, value]];
      if (target.kind !== 'link') {
        const to = target.kind === 'none' ? target.leftOut : nameOf(target);
        return to == null ? [] : [[to, value]];
      }
      if (typeof value === 'object' && value !== null && !('__type' in value))
        return fail('badRow', `${shown(name)}: records are found by a text or a number`);
      if (value !== null) links.push({ target, value });
      return [];
    });
    return { body: Object.fromEntries(members), links };
  }

  /** Whether a row is not a record but a whole answer with records. */
  #holdsExport(body: JsonObject): boolean {
    const { results } = body;
    if (!Array.isArray(results) || !results.every(isJsonObject)) return false;
    const isKnown = this.#options.targets.field('results') !== undefined;
    return !isKnown && Object.keys(body).every((name) => name === 'results' || name === 'count');
  }
}

/** Types of Parse that are stored as Objects. */
const foreignTypes: ReadonlySet<JsonValue | undefined> = new Set(['GeoPoint', 'Bytes', 'Polygon']);

/** Grants nobody access except keys: an empty map would restrict nobody (permissions.md#acl). */
const forNobody = { '*': {} };

function plainObject(row: JsonObject): JsonObject {
  const isForeign = (value: JsonValue) => isJsonObject(value) && foreignTypes.has(value.__type);
  const isClosed = isJsonObject(row.ACL) && Object.keys(row.ACL).length === 0;
  if (!isClosed && !Object.values(row).some(isForeign)) return row;
  const members = Object.entries(row).map(([name, value]): [string, JsonValue] => {
    if (name === 'ACL' && isClosed) return [name, forNobody];
    if (!isForeign(value)) return [name, value];
    const { __type, ...rest } = value as JsonObject;
    return [name, rest];
  });
  return Object.fromEntries(members);
}
