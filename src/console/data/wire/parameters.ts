import { mayKnowTable } from '../../../access/index.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { tableIfAny } from '../../../crm/queries/records.ts';
import { fail, ServiceError } from '../../../errors/fail.ts';
import { isJsonObject, isStorable, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { queryJson } from '../../../query/parameters.ts';
import type { ClpAction, TableSchema } from '../../../schema/model.ts';
import type { ApiRequest } from '../../protocol/api-endpoint.ts';

/** Refuses a parameter. @throws invalidArguments (107) */
export const refuse = (name: string, why: string): never => fail('invalidArguments', `${name} ${why}`);

/**
 * The table that the address names. One that the caller may do nothing with is refused like one that there is not: he learns of neither.
 * @throws permissionDenied (119)
 */
export function tableOf(context: CrmContext, { params }: ApiRequest, action: ClpAction): TableSchema {
  const className = params.table ?? '';
  const table = tableIfAny(context, className);
  if (!table || !mayKnowTable(context.principal, table))
    return fail('permissionDenied', action, className.slice(0, limits.nameLength));
  return table;
}

/** An id has some ten characters; clients choose none here. */
const MAX_ID_LENGTH = 200;

/** The record that the address names. @throws objectNotFound (101) for what no id looks like */
export function idOf({ params }: ApiRequest): string {
  const { id = '' } = params;
  return id === '' || id.length > MAX_ID_LENGTH || !isStorable(id) ? fail('objectNotFound') : id;
}

/** A `where` as REST takes it; empty where none was sent. @throws invalidArguments, invalidJson (107), badQuery (102) */
export function whereOf({ query }: ApiRequest): JsonObject {
  const text = query.get('where');
  if (text === undefined || text === '') return {};
  const where = queryJson(text);
  return isJsonObject(where) ? where : refuse('where', 'must be a JSON object');
}

/** A whole number. @throws invalidArguments (107) */
export function numberOf({ query }: ApiRequest, name: string, otherwise: number, most: number): number {
  const text = query.get(name);
  if (text === undefined) return otherwise;
  const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  return number <= most ? number : refuse(name, `must be a whole number from 0 to ${most}`);
}

/** A text; `undefined` where none was sent, or an empty one. @throws invalidArguments (107) */
export function textOf({ query }: ApiRequest, name: string, maxLength: number): string | undefined {
  const text = query.get(name);
  if (text === undefined || text === '') return undefined;
  if (text.length > maxLength) refuse(name, `must have at most ${maxLength} characters`);
  return isStorable(text) ? text : refuse(name, 'holds NUL or half a character');
}

/** The members of a body, which are still to be checked. @param known all that it may have @throws invalidArguments (107) */
export function bodyOf<Body>(
  { body }: ApiRequest,
  known: readonly (keyof Body & string)[],
): (name: keyof Body & string) => JsonValue | undefined {
  const members = isJsonObject(body) ? body : refuse('the body', 'must be a JSON object');
  const names: ReadonlySet<string> = new Set(known);
  const stranger = Object.keys(members).find((name) => !names.has(name));
  if (stranger !== undefined) refuse(stranger.slice(0, limits.nameLength), 'is unknown');
  return (name) => own(members, name);
}

/** An object. @throws invalidArguments (107) */
export const objectAt = (value: JsonValue | undefined, name: string): JsonObject =>
  isJsonObject(value) ? value : refuse(name, 'must be an object');

/** A `where` that cannot be asked is the caller's fault, whatever REST answers (SPEC "Errors" 1). @throws invalidArguments (107) in its place */
export async function asked<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && (error.key === 'invalidWhere' || error.key === 'noTextIndex'))
      fail('invalidArguments', error.message.replace('server error: ', ''));
    throw error;
  }
}
