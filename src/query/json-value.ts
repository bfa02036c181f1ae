import { fail, ServiceError } from '../errors/fail.ts';
import { hasMoreParts, type JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { parseRequestJson } from '../values/index.ts';
import { refuseDepth } from './where/context.ts';

/** Each level of a `where` takes up to two of JSON, and its values theirs: too deep a `where` should hear of it by its own error. */
const WHERE_DEPTH = 2 * limits.whereDepth + limits.jsonDepth;
/** A member of an object stands after two marks, its name's and that before it. */
const MAX_MARKS = 2 * limits.queryValues;

/** The value of a `where` parameter, which comes as JSON text or as JSON. @throws invalidWhere (500), badQuery (102), invalidJson (107) */
export function whereValue(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  try {
    return queryJson(value, WHERE_DEPTH);
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'nestedTooDeep') refuseDepth();
    if (error instanceof ServiceError && error.key === 'badQuery') throw error;
    if (isJson(value)) throw error;
    return fail('invalidWhere', 'is not valid JSON');
  }
}

/** The value of a parameter that is JSON text. @throws badQuery (102) for a longer text, or more values, than a query may bring; invalidJson (107) */
export function queryJson(text: string, levels: number = limits.jsonDepth): JsonValue {
  if (text.length > limits.queryLength) refuseLength();
  try {
    return parseRequestJson(text, levels, MAX_MARKS);
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'tooManyValues') refuseValues();
    throw error;
  }
}

/** Insists that JSON has no more values than a query may bring. @throws badQuery (102) */
export function checkValues(value: JsonValue): void {
  // The value itself is one.
  if (hasMoreParts(value, limits.queryValues - 1)) refuseValues();
}

/** A pipeline and its stages are two of levels beside those of a value. */
const PIPELINE_DEPTH = limits.jsonDepth + 2;

/**
 * Insists that a pipeline, which need not have come as text, nests no deeper and brings no longer texts than such a text may.
 * @throws nestedTooDeep (107), badQuery (102)
 */
export function checkExtent(pipeline: readonly JsonValue[]): void {
  let left = limits.queryLength;
  const look = (part: JsonValue | readonly JsonValue[], levels: number): void => {
    if (typeof part === 'string') {
      left -= part.length;
      if (left < 0) refuseLength();
    } else if (typeof part === 'object' && part !== null) {
      if (levels === 0) fail('nestedTooDeep');
      for (const inner of Array.isArray(part) ? part : Object.values(part)) look(inner, levels - 1);
    }
  };
  look(pipeline, PIPELINE_DEPTH);
}

function refuseLength(): never {
  fail('badQuery', `a query has at most ${limits.queryLength} characters`);
}

function refuseValues(): never {
  fail('badQuery', `a query has at most ${limits.queryValues} values`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
