import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { canonicalJson, isJsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { isoText } from '../../../kernel/time.ts';
import type { TextSearch } from '../../../query/model/filter.ts';
import { compileRegex } from '../../../query/regex/index.ts';
import { rootOf } from '../../../schema/model.ts';
import { uniqueTextKey } from '../../../schema/unique-key.ts';
import { parseIsoDate } from '../../../values/json/iso.ts';
import { wireDate, wirePointer } from '../../../values/json/wire.ts';
import { applyEdits, type JsonEdit } from '../../../values/operators/apply.ts';
import { withoutPoints } from '../../sql/full-text/hebrew-points.ts';
import { textMatcher, textScorer } from '../../sql/full-text/match.ts';

/** Options of the functions. */
export interface FunctionOptions {
  /** Called about every thousand rows by interruptible statements; may throw to end the statement. */
  readonly tick?: () => void;
  /** Returns the maximum characters of an Array or Object that operators change, and of their operands: beyond it they throw LongEdit. */
  readonly maxEditChars?: () => number;
}

/** Operators on an Array or Object would take long: the plan has to be executed on a thread. */
export class LongEdit extends Error {}

/** Registers the functions that our SQL calls. Errors thrown in them propagate unchanged from the statement. */
export function registerFunctions(db: DatabaseSync, options: FunctionOptions = {}): void {
  const pure = { deterministic: true } as const;
  db.function('rds_regex', pure, regexFunction());
  db.function('rds_canonical', pure, canonical);
  db.function('rds_place', pure, placeFunction());
  db.function('rds_without', pure, withoutFunction());
  db.function('rds_instant', pure, (text) => (typeof text === 'string' ? parseIsoDate(text) : null));
  db.function('rds_wire', pure, wire);
  db.function('rds_without_points', pure, (text) => (typeof text === 'string' ? withoutPoints(text) : text));
  for (const form of ['nocase', 'phone'] as const)
    db.function(`rds_unique_${form}`, pure, (text) => (typeof text === 'string' ? uniqueTextKey(form, text) : null));
  db.function('rds_text_match', { ...pure, varargs: true }, textFunction(textMatcher));
  db.function('rds_text_score', { ...pure, varargs: true }, textFunction(textScorer));
  db.function('rds_edit', pure, (current, edits, type, label) => {
    const chars = ((current as string | null)?.length ?? 0) + (edits as string).length;
    if (chars > (options.maxEditChars?.() ?? Number.POSITIVE_INFINITY)) throw new LongEdit();
    return applyEdits(
      current as string | null,
      JSON.parse(edits as string) as JsonEdit[],
      type as 'Array' | 'Object',
      label as string,
    );
  });
  const tick = options.tick;
  db.function('rds_tick', () => {
    tick?.();
    return 1;
  });
}

/** Caches the result for the last argument: all rows of a statement pass the same one. */
function lastOf<T>(make: (text: string) => T): (text: string) => T {
  let last: string | undefined;
  let made: T;
  return (text) => {
    if (text !== last) {
      made = make(text);
      last = text;
    }
    return made;
  };
}

/** `rds_regex('<options>/<pattern>', text)`. Options and pattern share an argument, since each argument is copied for every row. */
function regexFunction(): (source: SQLOutputValue, text: SQLOutputValue) => number {
  const compiled = lastOf((source) => {
    const slash = source.indexOf('/');
    return compileRegex(source.slice(slash + 1), source.slice(0, slash));
  });
  return (source, text) => (typeof text === 'string' && compiled(source as string)(text) ? 1 : 0);
}

function canonical(text: SQLOutputValue): string | null {
  if (typeof text !== 'string') return null;
  try {
    return canonicalJson(JSON.parse(text) as JsonValue);
  } catch {
    // SQLite may evaluate this before the check of the value's type; a bare text is not JSON.
    return null;
  }
}

/** Returns the JSON text of the value at a path (a JSON array of keys and positions); NULL if there is none. */
function placeFunction(): (json: SQLOutputValue, path: SQLOutputValue) => string | null {
  const parsedPath = lastOf((path) => JSON.parse(path) as string[]);
  return (json, path) => {
    if (typeof json !== 'string') return null;
    let value: JsonValue | undefined = JSON.parse(json) as JsonValue;
    for (const label of parsedPath(path as string)) {
      if (Array.isArray(value)) value = /^\d{1,9}$/.test(label) ? value[Number(label)] : undefined;
      else value = isJsonObject(value) ? own(value, label) : undefined;
    }
    return value === undefined ? null : JSON.stringify(value);
  };
}

/** Returns the JSON text of an object without the named members and paths (a JSON array of names); NULL if it is not an object. */
function withoutFunction(): (json: SQLOutputValue, names: SQLOutputValue) => string | null {
  const parsedNames = lastOf((names) => new Set(JSON.parse(names) as string[]));
  return (json, names) => {
    if (typeof json !== 'string') return null;
    const hidden = parsedNames(names as string);
    try {
      const value = JSON.parse(json) as JsonValue;
      if (!isJsonObject(value)) return null;
      return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !hidden.has(rootOf(name)))));
    } catch {
      return null;
    }
  };
}

/** Returns the canonical JSON text of the wire form of a plain column's value. */
function wire(storage: SQLOutputValue, value: SQLOutputValue, className: SQLOutputValue): string | null {
  if (value === null) return null;
  if (storage === 'boolean') return value === 0 ? 'false' : 'true';
  if (storage === 'date') return canonicalJson(wireDate(isoText(value as number)));
  if (storage !== 'pointer') return JSON.stringify(value);
  return canonicalJson(wirePointer(className as string, value as string));
}

type OfTexts = (texts: readonly (string | null)[]) => number | boolean | null;

/** Returns an SQL function of a search, as JSON text, and of texts. */
function textFunction(make: (search: TextSearch) => OfTexts): (...values: SQLOutputValue[]) => number | null {
  const made = lastOf((search) => make(JSON.parse(search)));
  return (search, ...texts) => {
    const result = made(search as string)(texts as (string | null)[]);
    return result === null ? null : Number(result);
  };
}
