import { fail } from '../../errors/fail.ts';
import { keeping, keptResult, once, type RequestKey } from '../../idempotency/index.ts';
import { prefix } from '../../kernel/prefix.ts';
import { type Created, updatedText, wholeView, writeOne as writeRecord } from '../../records/index.ts';
import type { Users } from '../../users/index.ts';
import type { ApiReply, ApiRequest, TransactionItem } from '../endpoint/endpoint.ts';
import { createCondition, entityTag, preconditionOf } from '../endpoint/entity-tag.ts';
import { markedReply, unsealed } from '../endpoint/keyed.ts';
import { fieldsOf } from '../endpoint/parse-request.ts';

/**
 * Maximum length of the `Location` header. An objectId may be of any length (records.md#create), but clients refuse answers with long headers, after
 * the write was made.
 */
export const MAX_LOCATION_LENGTH = 2_000;

export const idOf = ({ objectId = '' }: ApiRequest['params']): string => objectId;

type TextReply = ApiReply & { readonly json: string };

/** Returns the ETag of a record that was written. @param at its `updatedAt`, in ISO 8601 */
const tagOf = ({ context }: ApiRequest, className: string, at: string): string =>
  entityTag({ updatedAt: Date.parse(at), view: wholeView(context, className) });

/** Returns the answer of a create. @param base path of the table */
export function createdReply(request: ApiRequest, base: string, className: string, created: Created): TextReply {
  const table = base.replace(':className', encodeURIComponent(className));
  const location = `${prefix}${table}/${encodeURIComponent(created.objectId.toWellFormed())}`;
  const headers: Record<string, string> = { etag: tagOf(request, className, created.createdAt) };
  if (location.length <= MAX_LOCATION_LENGTH) headers.location = location;
  // Signing up and opening a session answer with a token (requests.md#caching).
  if ('sessionToken' in created) headers['cache-control'] = 'no-store';
  return { status: 201, json: JSON.stringify(created), headers };
}

/** Returns the answer of an update. */
export const updatedReply = (request: ApiRequest, className: string, updated: Parameters<typeof updatedText>[0]): TextReply => ({
  status: 200,
  json: updatedText(updated),
  headers: { etag: tagOf(request, className, updated.updatedAt) },
});

/** Returns a create as an item of a transaction. @throws badTransaction (107) for a new session; preconditionFailed (412) */
export function creationOf(users: Users, base: string, className: string, request: ApiRequest): TransactionItem {
  const { body, client, preconditions } = request;
  if (className === '_Session') return fail('badTransaction', 'a session is opened by itself');
  const condition = createCondition(preconditions);
  if (condition === 'malformed') return fail('preconditionFailed');
  const precondition = condition === 'new' ? ({ ifNoneMatch: 'any' } as const) : undefined;
  const fields = fieldsOf(body);
  const { record, opened } =
    className === '_User' ? users.newUser(fields, client.installationId) : { record: { className, body: fields }, opened: null };
  return {
    write: { kind: 'create', ...record, precondition },
    secret: opened?.sessionToken,
    reply({ objectId, at }, secret) {
      const sessionToken = secret ?? opened?.sessionToken;
      const created = { objectId, createdAt: at, ...(sessionToken !== undefined && { sessionToken }) };
      return createdReply(request, base, className, created);
    },
  };
}

/** Returns an update as an item of a transaction. */
export function updateOf(className: string, request: ApiRequest): TransactionItem {
  const { params, body, preconditions } = request;
  const precondition = preconditionOf(preconditions);
  return {
    write: { kind: 'update', className, objectId: idOf(params), body: fieldsOf(body), precondition },
    reply: ({ objectId, at, returned }) => updatedReply(request, className, { objectId, updatedAt: at, returned }),
  };
}

/** Returns a delete as an item of a transaction. */
export function removalOf(className: string, { params, body, preconditions }: ApiRequest): TransactionItem {
  const precondition = preconditionOf(preconditions);
  return {
    write: { kind: 'delete', className, objectId: idOf(params), body: fieldsOf(body), precondition },
    reply: () => ({ status: 200, json: '{}' }),
  };
}

/** Executes a write of one record once for its key. @throws what `once` and the write throw */
export async function writeOnce(request: ApiRequest, key: RequestKey, item: TransactionItem): Promise<ApiReply> {
  const { context } = request;
  const { className } = item.write;
  const done = await once<ApiReply>(
    context.store,
    key,
    async () => item.reply(await writeRecord(keeping(context, key, [item.secret]), item.write)),
    async (row) => {
      const secret = row.sealed === undefined ? undefined : unsealed(key, row.sealed);
      return item.reply(await keptResult(context, className, row), secret);
    },
  );
  return markedReply(done);
}

/** Opens a session once for the key of the request. @throws what `once` and `openSession` throw */
export async function openOnce(users: Users, base: string, request: ApiRequest, key: RequestKey): Promise<ApiReply> {
  const { context, client, body } = request;
  const token = users.newToken();
  const done = await once<ApiReply>(
    context.store,
    key,
    async () => {
      const opened = await users.openSession(keeping(context, key, [token]), fieldsOf(body), client.sessionToken, token);
      return createdReply(request, base, '_Session', opened);
    },
    async (row) => {
      const { objectId, at } = await keptResult(context, '_Session', row);
      const opened = { objectId, createdAt: at, sessionToken: unsealed(key, row.sealed ?? '') };
      return createdReply(request, base, '_Session', opened);
    },
  );
  return markedReply(done);
}
