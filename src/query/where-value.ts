import { fail, ServiceError } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { parseRequestJson } from '../values/index.ts';
import { refuseDepth } from './where/context.ts';

/** Each level of a `where` takes up to two of JSON, and its values theirs: too deep a `where` should hear of it by its own error. */
const WHERE_DEPTH = 2 * limits.whereDepth + limits.jsonDepth;

/** The value of a `where` parameter, which comes as JSON text or as JSON. @throws invalidWhere (500), badQuery (102), invalidJson (107) */
export function whereValue(value: JsonValue | undefined): JsonValue {
  if (value === undefined) return {};
  if (typeof value !== 'string') return value;
  try {
    return parseRequestJson(value, WHERE_DEPTH);
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'nestedTooDeep') refuseDepth();
    if (isJson(value)) throw error;
    return fail('invalidWhere', 'is not valid JSON');
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
