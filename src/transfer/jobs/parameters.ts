import { holdsKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { NamedParameters } from '../../query/index.ts';
import type { RecordContext } from '../../records/index.ts';
import { isDescribed } from '../../schema/system-tables.ts';
import { type DateOrder, dateOrders, parseRequestJson } from '../../values/index.ts';
import type { ImportRequest } from '../import/columns/request.ts';
import { fieldMapOf } from '../import/columns/targets.ts';
import { refuseImport } from '../import/plan.ts';
import { checkEncoding } from '../import/source/encoding.ts';
import { type Format, formats } from '../import/source/format.ts';

/** Maximum number of characters of a row: parsing one blocks the event loop. */
export const MAX_ROW_LENGTH = 1024 * 1024;

/** An import over HTTP. */
export interface JobRequest extends ImportRequest {
  readonly dryRun: boolean;
}

const flags = ['dryRun', 'keepTimes', 'skipTriggers', 'skipTimeline', 'newFields'] as const;
const known: ReadonlySet<string> = new Set([...flags, 'format', 'map', 'matchOn', 'dateOrder', 'encoding']);
const yes: ReadonlySet<JsonValue> = new Set(['1', 'true', 1, true]);
const no: ReadonlySet<JsonValue> = new Set(['0', 'false', 0, false]);

const ofTypes: ReadonlyMap<string, Format> = new Map([
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
]);

/**
 * Parses the request of an import job. Whatever can be checked without the file is refused at once.
 * @param contentType of the body; implies the format unless a parameter names it
 * @throws invalidParameter, badParameterValue (102); errors of `refuseImport`; classMissing (103); permissionDenied (119)
 */
export function jobRequestOf(
  context: RecordContext,
  className: string,
  given: NamedParameters,
  contentType: string | undefined,
): JobRequest {
  refuseImport(context, { className, matchOn: [] });
  for (const name of given.keys()) if (!known.has(name)) fail('invalidParameter', name);
  const [dryRun, keepTimes, skipTriggers, skipTimeline, newFields] = flags.map((name) => flagOf(given, name)) as [
    ...[boolean, boolean, boolean, boolean, boolean],
  ];
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const request: JobRequest = {
    ...{ className, dryRun, keepTimes, skipTriggers, skipTimeline, newFields },
    format: oneOf(given, 'format', ['auto', ...formats]) ?? ofTypes.get(type) ?? 'auto',
    map: mapOf(given.get('map')),
    matchOn: namesOf(given.get('matchOn')),
    dateOrder: oneOf(given, 'dateOrder', dateOrders),
    encoding: encodingOf(given.get('encoding')),
    longest: MAX_ROW_LENGTH,
  };
  refuseImport(context, request);
  if (keepTimes && !holdsKey(context.principal)) fail('badParameterValue', 'keepTimes', 'takes a key');
  refuseUnknown(context, request);
  return request;
}

function refuseUnknown({ store }: RecordContext, { className, matchOn, newFields }: JobRequest): void {
  if (newFields) return;
  const table = store.schema().tables.get(className) ?? fail('classMissing', className);
  const unknown = matchOn.find((name) => !table.fields.has(name) || !isDescribed(className, name));
  if (unknown !== undefined) fail('badParameterValue', 'matchOn', `${className} has no field ${unknown.slice(0, 100)}`);
}

function flagOf(given: NamedParameters, name: string): boolean {
  const value = given.get(name);
  if (value === undefined || no.has(value)) return false;
  return yes.has(value) || fail('badParameterValue', name, 'should be true or false');
}

function oneOf<T extends string>(given: NamedParameters, name: string, values: readonly T[]): T | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  return values.find((one) => one === value) ?? fail('badParameterValue', name, `should be one of ${values.join(', ')}`);
}

function namesOf(value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return [];
  const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : [''];
  if (names.includes('')) fail('badParameterValue', 'matchOn', 'should be names of fields, comma-separated');
  return [...new Set(names)];
}

function mapOf(value: JsonValue | undefined): ImportRequest['map'] {
  if (value === undefined) return new Map();
  return asParameter('map', () => fieldMapOf(typeof value === 'string' ? parseRequestJson(value) : value));
}

function encodingOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  return asParameter('encoding', () => {
    checkEncoding(String(value));
    return String(value);
  });
}

function asParameter<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return fail('badParameterValue', name, error.message);
  }
}

/** Serialises a request for storage with its job. */
export function storedRequest({ map, ...request }: JobRequest, referer: string | null): string {
  return JSON.stringify({ ...request, map: Object.fromEntries(map), referer });
}

/** Parses a stored request. */
export function readStored(text: string): { readonly request: JobRequest; readonly referer: string | null } {
  const { map, referer, leftOut: _, ...request } = JSON.parse(text) as JsonObject;
  const stored = { ...request, map: fieldMapOf(map ?? {}) } as unknown as Omit<JobRequest, 'dateOrder'> & {
    dateOrder?: DateOrder;
  };
  return { request: stored, referer: typeof referer === 'string' ? referer : null };
}

/** Returns a stored request extended by what was not imported so far: numbers of rows by name. */
export function withLeftOut(text: string, leftOut: ReadonlyMap<string, number>): string {
  return JSON.stringify({ ...(JSON.parse(text) as JsonObject), leftOut: [...leftOut] });
}

/** Returns what was not imported. */
export function leftOutOf(text: string): ReadonlyMap<string, number> {
  const { leftOut = [] } = JSON.parse(text) as { readonly leftOut?: readonly (readonly [string, number])[] };
  return new Map(leftOut);
}
