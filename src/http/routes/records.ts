import { fail } from '../../errors/fail.ts';
import { isJsonObject } from '../../kernel/json.ts';
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
  updateRecord,
  type ViewedRecord,
} from '../../records/index.ts';
import type { JsonText } from '../../storage/port.ts';
import type { Users } from '../../users/index.ts';
import { resultsReply } from '../endpoint/answer.ts';
import type { ApiReply, ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
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
import { createdReply, creationOf, idOf, openOnce, removalOf, updatedReply, updateOf, writeOnce } from './record-writes.ts';

type Params = ApiRequest['params'];

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
        return createdReply(request, base, className, await createIfNew(request, className, create));
      },
      inTransaction: (request) => creationOf(users, base, classOf(request.params), request),
      keyed(request, key) {
        const className = classOf(request.params);
        if (className === '_Session') return openOnce(users, base, request, key);
        return writeOnce(request, key, creationOf(users, base, className, request));
      },
    },
    {
      method: 'GET',
      path: one,
      async handle({ context, params, query, preconditions }) {
        const record = await readViewed(context, classOf(params), idOf(params), readOptions(query));
        const { text } = record;
        // No promise for a short record: adr/0023.
        return typeof text === 'string' ? recordReply(record, text, text, preconditions) : longRecordReply(record, preconditions);
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
        return updatedReply(request, className, updated);
      },
      inTransaction: (request) => updateOf(classOf(request.params), request),
      keyed: (request, key) => writeOnce(request, key, updateOf(classOf(request.params), request)),
    },
    {
      method: 'DELETE',
      path: one,
      async handle({ context, params, body, preconditions }) {
        await deleteRecord(context, classOf(params), idOf(params), fieldsOf(body), preconditionOf(preconditions));
        return ok('{}');
      },
      inTransaction: (request) => removalOf(classOf(request.params), request),
      keyed: (request, key) => writeOnce(request, key, removalOf(classOf(request.params), request)),
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

/**
 * Answers with a record and its ETag, or 304 if the client has it. If the service may have changed the text without a new version, the ETag has a hash
 * of the text; one with other records in it is never 304.
 * @param beginning of the text, enough to know the record's version
 */
function recordReply(record: ViewedRecord, beginning: string, text: JsonText, preconditions: SentPreconditions): ApiReply {
  const updatedAt = updatedAtOf(beginning);
  if (updatedAt === null) return ok(text);
  const view = record.view ?? (typeof text === 'string' && !record.isExpanded ? shortHash(text) : null);
  const etag = entityTag({ updatedAt, view });
  if (view === null || !isUnmodified(preconditions, etag)) return { status: 200, json: text, headers: { etag } };
  return { status: 304, json: '', headers: { etag } };
}

async function longRecordReply(record: ViewedRecord, preconditions: SentPreconditions): Promise<ApiReply> {
  const { beginning, text } = await withBeginning(record.text);
  const reply = recordReply(record, beginning, text, preconditions);
  if (reply.status === 304 && typeof text !== 'string') await text[Symbol.asyncIterator]().return?.();
  return reply;
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

/** Users sign up and sessions are created by rules of their own, whatever path names their table. */
function createOf(users: Users): Create {
  return ({ context, client, body }, className) => {
    const fields = fieldsOf(body);
    if (className === '_User') return users.signUp(context, fields, client.installationId);
    if (className === '_Session') return users.openSession(context, fields, client.sessionToken);
    return createRecord(context, className, fields);
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
