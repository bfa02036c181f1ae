import { fail } from '../../errors/fail.ts';
import { isJsonObject } from '../../kernel/json.ts';
import { prefix } from '../../kernel/prefix.ts';
import { AggregateParameters } from '../../query/aggregate/index.ts';
import { FindParameters, type ReadOptions, ReadParameters } from '../../query/index.ts';
import {
  aggregateRecords,
  type Created,
  chosenId,
  createRecord,
  deleteRecord,
  explained,
  findRecords,
  readViewed,
  shortHash,
  updatedText,
  updateRecord,
  type ViewedRecord,
  wholeView,
} from '../../records/index.ts';
import type { JsonText } from '../../storage/port.ts';
import type { Users } from '../../users/index.ts';
import { resultsReply } from '../endpoint/answer.ts';
import type { ApiReply, ApiRequest, Endpoint, TransactionItem } from '../endpoint/endpoint.ts';
import {
  createCondition,
  entityTag,
  isUnmodified,
  preconditionOf,
  type SentPreconditions,
  updatedAtOf,
  withBeginning,
} from '../endpoint/entity-tag.ts';
import { fieldsOf } from '../endpoint/parse-request.ts';

type Params = ApiRequest['params'];

/**
 * Maximum length of the `Location` header. An objectId may be of any length (records.md#create), but clients refuse answers with long headers, after
 * the write was made.
 */
export const MAX_LOCATION_LENGTH = 2_000;

/** Creates a record and returns the content of the answer. */
type Create = (request: ApiRequest, className: string) => Promise<Created>;

/**
 * Returns the endpoints for the records of a table. Reference: records.md#create, records.md#read, records.md#update, records.md#delete.
 * @param base path of the table
 * @param classOf table that the path names
 */
export function recordEndpoints(users: Users, base: string, classOf: (params: Params) => string): readonly Endpoint[] {
  const one = `${base}/:objectId`;
  const create = createOf(users);
  return [
    {
      method: 'POST',
      path: base,
      async handle(request) {
        const className = classOf(request.params);
        const created = await createIfNew(request, className, create);
        const table = base.replace(':className', encodeURIComponent(className));
        const location = `${prefix}${table}/${encodeURIComponent(created.objectId.toWellFormed())}`;
        const headers = {
          ...(location.length <= MAX_LOCATION_LENGTH && { location }),
          etag: tagOf(request, className, created.createdAt),
          // Signing up and opening a session answer with a token (requests.md#caching).
          ...('sessionToken' in created && { 'cache-control': 'no-store' }),
        };
        return { status: 201, json: JSON.stringify(created), headers };
      },
      inTransaction: (request) => creationOf(users, classOf(request.params), request),
    },
    {
      method: 'GET',
      path: one,
      async handle({ context, params, query, preconditions }) {
        const record = await readViewed(context, classOf(params), idOf(params), readOptions(query));
        return recordReply(record, preconditions);
      },
    },
    {
      method: 'PUT',
      path: one,
      async handle(request) {
        const { context, params, body, preconditions } = request;
        const className = classOf(params);
        const precondition = preconditionOf(preconditions);
        const updated = await updateRecord(context, className, idOf(params), fieldsOf(body), { precondition });
        const etag = tagOf(request, className, updated.updatedAt);
        return { status: 200, json: updatedText(updated), headers: { etag } };
      },
      inTransaction: ({ params, body, preconditions }) => ({
        write: {
          kind: 'update',
          className: classOf(params),
          objectId: idOf(params),
          body: fieldsOf(body),
          precondition: preconditionOf(preconditions),
        },
        answer: ({ objectId, at, returned }) => updatedText({ objectId, updatedAt: at, returned }),
      }),
    },
    {
      method: 'DELETE',
      path: one,
      async handle({ context, params, body, preconditions }) {
        await deleteRecord(context, classOf(params), idOf(params), fieldsOf(body), preconditionOf(preconditions));
        return ok('{}');
      },
      inTransaction: ({ params, body, preconditions }) => ({
        write: {
          kind: 'delete',
          className: classOf(params),
          objectId: idOf(params),
          body: fieldsOf(body),
          precondition: preconditionOf(preconditions),
        },
        answer: () => '{}',
      }),
    },
    {
      method: 'GET',
      path: base,
      handle: async ({ context, params, query }) =>
        resultsReply(await findRecords(context, classOf(params), new FindParameters(query))),
    },
  ];
}

/** Returns which parts of a record to read; `undefined` for all. */
export const readOptions = (query: ApiRequest['query']): ReadOptions | undefined =>
  query.size > 0 ? new ReadParameters(query) : undefined;

/** Returns the ETag of a record that was written. @param at its `updatedAt`, in ISO 8601 */
const tagOf = ({ context }: ApiRequest, className: string, at: string): string =>
  entityTag({ updatedAt: Date.parse(at), view: wholeView(context, className) });

/**
 * Answers with a record and its ETag, or 304 if the client has it. If the service may have changed the text without a new version, the ETag has a hash
 * of the text; one with other records in it is never 304.
 */
async function recordReply(record: ViewedRecord, preconditions: SentPreconditions): Promise<ApiReply> {
  const { beginning, text } = await withBeginning(record.text);
  const updatedAt = updatedAtOf(beginning);
  if (updatedAt === null) return ok(text);
  const view = record.view ?? (typeof text === 'string' && !record.isExpanded ? shortHash(text) : null);
  const etag = entityTag({ updatedAt, view });
  if (view === null || !isUnmodified(preconditions, etag)) return { status: 200, json: text, headers: { etag } };
  if (typeof text !== 'string') await text[Symbol.asyncIterator]().return?.();
  return { status: 304, json: '', headers: { etag } };
}

/** @throws recordExists, preconditionFailed (412); what `create` throws */
async function createIfNew(request: ApiRequest, className: string, create: Create): ReturnType<Create> {
  const condition = createCondition(request.preconditions);
  if (condition === 'none') return create(request, className);
  if (condition === 'malformed') return fail('preconditionFailed');
  try {
    return await create(request, className);
  } catch (error) {
    const { context, body } = request;
    const objectId = isJsonObject(body) ? chosenId(body, context.principal) : undefined;
    if (objectId === undefined) throw error;
    const precondition = { ifNoneMatch: 'any' } as const;
    throw await explained(context, { className, objectId, action: 'create', precondition }, error);
  }
}

const ok = (json: JsonText): ApiReply => ({ status: 200, json });

const idOf = ({ objectId = '' }: Params): string => objectId;

/** Users sign up and sessions are created by rules of their own, whatever path names their table. */
function createOf(users: Users): Create {
  return ({ context, client, body }, className) => {
    const fields = fieldsOf(body);
    if (className === '_User') return users.signUp(context, fields, client.installationId);
    if (className === '_Session') return users.openSession(context, fields, client.sessionToken);
    return createRecord(context, className, fields);
  };
}

/** Returns a create as an item of a transaction. @throws badTransaction (107) for a new session; preconditionFailed (412) */
function creationOf(users: Users, className: string, { body, client, preconditions }: ApiRequest): TransactionItem {
  if (className === '_Session') return fail('badTransaction', 'a session is opened by itself');
  const condition = createCondition(preconditions);
  if (condition === 'malformed') return fail('preconditionFailed');
  const precondition = condition === 'new' ? ({ ifNoneMatch: 'any' } as const) : undefined;
  const fields = fieldsOf(body);
  const { record, opened } =
    className === '_User' ? users.newUser(fields, client.installationId) : { record: { className, body: fields }, opened: null };
  return {
    write: { kind: 'create', ...record, precondition },
    answer: ({ objectId, at }) => JSON.stringify({ objectId, createdAt: at, ...opened }),
    isSecret: opened !== null,
  };
}

/** Record endpoints; `users`, `roles` and `sessions` are aliases of the tables. Reference: requests.md#addresses. */
export function classEndpoints(users: Users): readonly Endpoint[] {
  return [
    ...recordEndpoints(users, '/classes/:className', ({ className = '' }) => className),
    ...recordEndpoints(users, '/users', () => '_User'),
    ...recordEndpoints(users, '/roles', () => '_Role'),
    ...recordEndpoints(users, '/sessions', () => '_Session'),
  ];
}

/** Reference: aggregation.md#request. */
export const aggregateEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/classes-aggregate/:className',
    async handle({ context, params: { className = '' }, query }) {
      return resultsReply({ results: await aggregateRecords(context, className, new AggregateParameters(query)) });
    },
  },
];
