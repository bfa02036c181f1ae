import { mayKnowTable } from '../../../access/index.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { tableIfAny } from '../../../crm/queries/records.ts';
import { fail, ServiceError } from '../../../errors/fail.ts';
import { isJsonObject, isStorable, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { queryJson } from '../../../query/parameters.ts';
import type { ClpAction, TableSchema } from '../../../schema/model.ts';
import type { ApiRequest } from '../../protocol/api-endpoint.ts';

/** Rejects a parameter. @throws invalidArguments (107) */
export const refuse = (name: string, why: string): never => fail('invalidArguments', `${name} ${why}`);

/**
 * Returns the table in the path. A table that is closed to the caller is refused like one that does not exist, so that neither is revealed.
 * @throws permissionDenied (119)
 */
export function tableOf(context: CrmContext, { params }: ApiRequest, action: ClpAction): TableSchema {
  const className = params.table ?? '';
  const table = tableIfAny(context, className);
  if (!table || !mayKnowTable(context.principal, table))
    return fail('permissionDenied', action, className.slice(0, limits.nameLength));
  return table;
}

/** Longer than any objectId that the console creates. */
const MAX_ID_LENGTH = 200;

/** Returns the objectId in the path. @throws objectNotFound (101) if it cannot be one */
export function idOf({ params }: ApiRequest): string {
  const { id = '' } = params;
  return id === '' || id.length > MAX_ID_LENGTH || !isStorable(id) ? fail('objectNotFound') : id;
}

/** Parses `where` in REST syntax; empty if none was sent. @throws invalidArguments, invalidJson (107), badQuery (102) */
export function whereOf({ query }: ApiRequest): JsonObject {
  const text = query.get('where');
  if (text === undefined || text === '') return {};
  const where = queryJson(text);
  return isJsonObject(where) ? where : refuse('where', 'must be a JSON object');
}

/** Parses a whole number. @throws invalidArguments (107) */
export function numberOf({ query }: ApiRequest, name: string, defaultValue: number, max: number): number {
  const text = query.get(name);
  if (text === undefined) return defaultValue;
  const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  return number <= max ? number : refuse(name, `must be a whole number from 0 to ${max}`);
}

/** Returns a text parameter; `undefined` if it is missing or empty. @throws invalidArguments (107) */
export function textOf({ query }: ApiRequest, name: string, maxLength: number): string | undefined {
  const text = query.get(name);
  if (text === undefined || text === '') return undefined;
  if (text.length > maxLength) refuse(name, `must have at most ${maxLength} characters`);
  return isStorable(text) ? text : refuse(name, 'holds NUL or half a character');
}

/** Returns a getter for the members of a body, whose values are still unchecked. @param known all allowed members @throws invalidArguments (107) */
export function bodyOf<Body>(
  { body }: ApiRequest,
  known: readonly (keyof Body & string)[],
): (name: keyof Body & string) => JsonValue | undefined {
  const members = isJsonObject(body) ? body : refuse('the body', 'must be a JSON object');
  const names: ReadonlySet<string> = new Set(known);
  const unknownName = Object.keys(members).find((name) => !names.has(name));
  if (unknownName !== undefined) refuse(unknownName.slice(0, limits.nameLength), 'is unknown');
  return (name) => own(members, name);
}

/** Checks that a value is an object. @throws invalidArguments (107) */
export const objectAt = (value: JsonValue | undefined, name: string): JsonObject =>
  isJsonObject(value) ? value : refuse(name, 'must be an object');

/** Maps errors of an invalid `where`, which REST answers with 500, to invalidArguments (107). Reference: queries.md#where. */
export async function mapFilterErrors<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && (error.key === 'invalidWhere' || error.key === 'noTextIndex'))
      fail('invalidArguments', error.message.replace('server error: ', ''));
    throw error;
  }
}
