import { maySilenceTools } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import {
  aggregateRecords,
  type Created,
  createRecord,
  findRecords,
  getRecord,
  isSilencingFlag,
  type OnlyIf,
  updateRecord,
} from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { isHidden } from '../../schema/system-tables.ts';
import { wholeText } from '../../storage/port.ts';
import { advise } from '../errors/advice.ts';
import type { ToolCall } from '../tools/tool.ts';

/** A record in wire form. */
export type Row = JsonObject & { objectId: string };

/** What to read of a table: the query parameters of REST. */
export interface Ask {
  readonly where?: JsonObject | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly order?: string | undefined;
  readonly limit: number;
  readonly skip?: number | undefined;
  readonly include?: readonly string[] | undefined;
}

/**
 * The records of a table that the caller may find; none of a table that there is not (SPEC "Records: Query").
 * @throws what `findRecords` throws
 */
export async function findRows(call: ToolCall, table: string, ask: Ask): Promise<Row[]> {
  const { results } = await findRecords(call.context, table, parametersOf(ask));
  return JSON.parse(await wholeText(results)) as Row[];
}

/** How many records match, of those that the caller may find. */
export async function countRows(call: ToolCall, table: string, where?: JsonObject): Promise<number> {
  const parameters = parametersOf({ where, limit: 0 }).set('count', 1);
  const { count = 0 } = await findRecords(call.context, table, parameters);
  return count;
}

/** One record. @throws objectNotFound (101) */
export async function getRow(
  call: ToolCall,
  table: string,
  objectId: string,
  { keys, include }: Pick<Ask, 'keys' | 'include'> = {},
): Promise<Row> {
  const { limit: _limit, ...selection } = Object.fromEntries(parametersOf({ keys, include, limit: 0 }));
  return JSON.parse(await getRecord(call.context, table, objectId, new Map(Object.entries(selection)))) as Row;
}

/** Rows of an aggregation (CONTRACT "Records": GET classes-aggregate). @param pipeline stages as REST takes them */
export async function aggregateRows(call: ToolCall, table: string, pipeline: readonly JsonObject[]): Promise<JsonObject[]> {
  const text = await aggregateRecords(call.context, table, new Map([['pipeline', JSON.stringify(pipeline)]]));
  return JSON.parse(await wholeText(text)) as JsonObject[];
}

function parametersOf({ where, keys, order, limit, skip, include }: Ask): Map<string, JsonValue> {
  const parameters = new Map<string, JsonValue>([['limit', limit]]);
  if (where) parameters.set('where', where);
  if (keys && keys.length > 0) parameters.set('keys', keys.join(','));
  if (order) parameters.set('order', order);
  if (skip) parameters.set('skip', skip);
  if (include && include.length > 0) parameters.set('include', include.join(','));
  return parameters;
}

/** A table of the system, as its schema is now. @throws classMissing (103) where there is none, or it is hidden */
export function tableNamed({ context }: ToolCall, className: string): TableSchema {
  const table = context.store.schema().tables.get(className);
  return table && !isHidden(className) ? table : fail('classMissing', className);
}

/** What silences a write: arguments of tools, which count under the master key alone (SPEC "Authentication" rule 5). */
export interface Silence {
  readonly skipTriggers?: boolean | undefined;
  readonly skipTimeline?: boolean | undefined;
}

/** The body of a write: flags inside the data count no more than the tool's own. */
export function bodyOf({ principal }: ToolCall, data: JsonObject, { skipTriggers, skipTimeline }: Silence = {}): JsonObject {
  const counts = maySilenceTools(principal);
  const body = counts || !Object.keys(data).some(isSilencingFlag) ? data : without(data);
  if (!counts || (skipTriggers !== true && skipTimeline !== true)) return body;
  return {
    ...body,
    ...(skipTriggers === true && { dontRunPlatformTriggers: true }),
    ...(skipTimeline === true && { dontUpdatePlatformTimeline: true }),
  };
}

const without = (data: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !isSilencingFlag(name)));

/** Creates a record as the caller. @throws what `createRecord` throws */
export function createRow(call: ToolCall, table: string, data: JsonObject, silence?: Silence): Promise<Created> {
  return createRecord(call.context, table, bodyOf(call, data, silence));
}

/** Changes a record as the caller. @returns `{updatedAt, objectId}` and what operators made. @throws what `updateRecord` throws */
export async function updateRow(
  call: ToolCall,
  table: string,
  objectId: string,
  data: JsonObject,
  { onlyIf, ...silence }: Silence & { readonly onlyIf?: OnlyIf | undefined } = {},
): Promise<Row> {
  return JSON.parse(await updateRecord(call.context, table, objectId, bodyOf(call, data, silence), onlyIf)) as Row;
}

/** A Pointer in wire form. */
export const pointer = (className: string, objectId: string): JsonObject => ({ __type: 'Pointer', className, objectId });

/** A Date in wire form. @param at ISO 8601, or milliseconds since 1970 */
export const wireDate = (at: string | number): JsonObject => ({ __type: 'Date', iso: new Date(at).toISOString() });

/** What a Pointer or an included record in wire form points at; `undefined` for anything else. */
export function pointedAt(value: JsonValue | undefined): string | undefined {
  const id = typeof value === 'object' && value !== null && !Array.isArray(value) ? value.objectId : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** An error about the arguments that only the tool can know. @param next the tool to call next */
export function badArguments(why: string, advice: { readonly expected?: string; readonly next?: string } = {}): never {
  throw advise(serviceError('invalidArguments', why), advice);
}

/** What `read` gives; `otherwise` where the catalogue refuses it by one of the keys: parts of an answer that the caller may not see. */
export async function unless<T, U>(keys: readonly ServiceError['key'][], otherwise: U, read: () => Promise<T>): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && keys.includes(error.key)) return otherwise;
    throw error;
  }
}

/** What keeps a part of an answer from a caller by the permissions of its table. */
export const unseen = ['permissionDenied', 'fieldDenied', 'needsAuthentication'] as const;
