import { fail, ServiceError } from '../errors/fail.ts';
import { hasMoreParts, isJson, isJsonObject, type JsonObject, type JsonValue, maxJsonBytes } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { parseRequestJson } from '../values/index.ts';
import { splitNames } from './model/names.ts';
import type { FindOptions, MatchingOptions, ReadOptions } from './model/options.ts';
import { refuseDepth } from './where/context.ts';

/** Parameters by name: text from an address; JSON values if a query came in a body, or from a function. */
export type NamedParameters = ReadonlyMap<string, JsonValue>;

const ofReads: readonly string[] = ['keys', 'excludeKeys', 'include', 'includeAll'];
const knownOfReads: ReadonlySet<string> = new Set(ofReads);
const knownOfQueries: ReadonlySet<string> = new Set([
  ...ofReads,
  ...['where', 'limit', 'skip', 'order', 'count', 'redirectClassNameForKey'],
]);
const knownOfMatching: ReadonlySet<string> = new Set(['where', 'expect', 'dryRun']);
const yes: ReadonlySet<JsonValue | undefined> = new Set(['1', 'true', 1, true]);
const no: ReadonlySet<JsonValue | undefined> = new Set([undefined, '0', 'false', 0, false]);

/**
 * The options of a read, parsed from parameters when each is read: the first malformed one, in the order of the core, is refused.
 * All getters throw badParameterValue (102).
 */
export class ReadParameters implements ReadOptions {
  protected readonly given: NamedParameters;
  readonly #known: ReadonlySet<string>;

  constructor(given: NamedParameters, known = knownOfReads) {
    this.given = given;
    this.#known = known;
  }

  /** @throws invalidParameter (102) */
  refuseUnknown(): void {
    refuseUnknown(this.given, this.#known);
  }

  get keys(): readonly string[] {
    return this.names('keys');
  }

  get excludeKeys(): readonly string[] {
    return this.names('excludeKeys');
  }

  get include(): readonly string[] {
    return this.names('include');
  }

  get includeAll(): boolean {
    return this.flag('includeAll');
  }

  protected names(name: string): readonly string[] {
    return splitNames(name, this.given.get(name));
  }

  protected flag(name: string): boolean {
    return flag(this.given, name);
  }
}

function refuseUnknown(given: NamedParameters, known: ReadonlySet<string>): void {
  for (const name of given.keys()) if (!known.has(name)) fail('invalidParameter', name.slice(0, limits.nameLength));
}

function flag(given: NamedParameters, name: string): boolean {
  const value = given.get(name);
  if (yes.has(value)) return true;
  return no.has(value) ? false : fail('badParameterValue', name, 'should be 1 or 0');
}

/** The options of a query, parsed in the same way. */
export class FindParameters extends ReadParameters implements FindOptions {
  constructor(given: NamedParameters) {
    super(given, knownOfQueries);
  }

  /** @throws invalidWhere (500), badQuery (102), invalidJson (107) */
  get where(): JsonObject | undefined {
    return whereOption(this.given.get('where'));
  }

  get order(): readonly string[] {
    return this.names('order');
  }

  get limit(): number | undefined {
    return wholeNumber(this.given, 'limit');
  }

  get skip(): number | undefined {
    return wholeNumber(this.given, 'skip');
  }

  get count(): boolean {
    return this.flag('count');
  }

  /** Never throws. */
  get countsAlone(): boolean {
    const limit = this.given.get('limit');
    return (limit === '0' || limit === 0) && yes.has(this.given.get('count'));
  }

  /** @throws invalidParameter (102), too: it is read before `refuseUnknown` is called */
  get redirectClassNameForKey(): string | undefined {
    const key = this.given.get('redirectClassNameForKey');
    if (key === undefined || key === '') return undefined;
    this.refuseUnknown();
    return typeof key === 'string' ? key : fail('badParameterValue', 'redirectClassNameForKey', 'should be the name of a field');
  }
}

function wholeNumber(given: NamedParameters, name: string): number | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0)
    fail('badParameterValue', name, 'should be a whole number, 0 or more');
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

/** The options of a write of all records that match a `where`, parsed in the same way. */
export class MatchingParameters implements MatchingOptions {
  readonly #given: NamedParameters;

  constructor(given: NamedParameters) {
    this.#given = given;
  }

  /** @throws invalidParameter (102) */
  refuseUnknown(): void {
    refuseUnknown(this.#given, knownOfMatching);
  }

  /** @throws invalidWhere (500), badQuery (102), invalidJson (107) */
  get where(): JsonObject | undefined {
    return whereOption(this.#given.get('where'));
  }

  get expect(): number | undefined {
    return wholeNumber(this.#given, 'expect');
  }

  get dryRun(): boolean {
    return flag(this.#given, 'dryRun');
  }
}

/** Parses a `where` that comes as JSON text or as JSON. @throws invalidWhere (500), badQuery (102), invalidJson (107) */
export function whereOption(value: JsonValue | undefined): JsonObject | undefined {
  if (value === undefined) return undefined;
  const where = whereValue(value);
  return isJsonObject(where) ? where : fail('invalidWhere', 'should be a JSON object');
}

/**
 * JSON levels allowed in the text of a `where`. Each of its levels takes up to two of JSON, plus those of values, so that a `where` that nests
 * too deeply gets its own error.
 */
const MAX_WHERE_JSON_DEPTH = 2 * limits.whereDepth + limits.jsonDepth;
/** Maximum number of JSON marks. Each member of an object takes up to two: one for its name and one before it. */
const MAX_MARKS = 2 * limits.queryValues;

/** Parses the value of a `where` parameter, which comes as JSON text or as JSON. @throws invalidWhere (500), badQuery (102), invalidJson (107) */
export function whereValue(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  try {
    return queryJson(value, MAX_WHERE_JSON_DEPTH);
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'nestedTooDeep') refuseDepth();
    if (error instanceof ServiceError && error.key === 'badQuery') throw error;
    if (isJson(value)) throw error;
    return fail('invalidWhere', 'is not valid JSON');
  }
}

/**
 * Parses a parameter that is JSON text. @throws badQuery (102) if the text is longer, or has more values, than a query may have; invalidJson (107)
 */
export function queryJson(text: string, levels: number = limits.jsonDepth): JsonValue {
  if (text.length > limits.queryLength) refuseLength();
  try {
    return parseRequestJson(text, levels, MAX_MARKS);
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'tooManyValues') refuseValues();
    throw error;
  }
}

/** Checks that JSON has no more values than a query may have. @throws badQuery (102) */
export function checkValues(value: JsonValue): void {
  // The value itself is one.
  if (hasMoreParts(value, limits.queryValues - 1)) refuseValues();
}

/**
 * Checks that a pipeline built by a tool nests no deeper and is no longer than one that comes as text.
 * @throws badQuery (102), nestedTooDeep (107)
 */
export function checkExtent(pipeline: readonly JsonValue[]): void {
  if (maxJsonBytes(pipeline) > limits.queryLength && JSON.stringify(pipeline).length > limits.queryLength) refuseLength();
  checkDepth(pipeline, limits.jsonDepth);
}

function checkDepth(part: JsonValue | readonly JsonValue[], levels: number): void {
  if (typeof part !== 'object' || part === null) return;
  if (levels === 0) fail('nestedTooDeep');
  for (const inner of Array.isArray(part) ? part : Object.values(part)) checkDepth(inner, levels - 1);
}

function refuseLength(): never {
  fail('badQuery', `a query has at most ${limits.queryLength} characters`);
}

function refuseValues(): never {
  fail('badQuery', `a query has at most ${limits.queryValues} values`);
}
