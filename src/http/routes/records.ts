import { prefix } from '../../kernel/prefix.ts';
import { AggregateParameters } from '../../query/aggregate/index.ts';
import { FindParameters, type ReadOptions, ReadParameters } from '../../query/index.ts';
import {
  aggregateRecords,
  createRecord,
  deleteRecord,
  findRecords,
  readRecord,
  updatedText,
  updateRecord,
} from '../../records/index.ts';
import type { JsonText } from '../../storage/port.ts';
import type { Users } from '../../users/index.ts';
import { resultsReply } from '../endpoint/answer.ts';
import type { ApiReply, ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import { fieldsOf } from '../endpoint/parse-request.ts';

type Params = ApiRequest['params'];

/**
 * Maximum length of the `Location` header. An objectId may be of any length (records.md#create), but clients refuse answers with long headers, after
 * the write was made.
 */
export const MAX_LOCATION_LENGTH = 2_000;

/** Creates a record and returns the content of the answer. */
type Create = (request: ApiRequest, className: string) => Promise<{ readonly objectId: string }>;

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
        const created = await create(request, className);
        const table = base.replace(':className', encodeURIComponent(className));
        const location = `${prefix}${table}/${encodeURIComponent(created.objectId.toWellFormed())}`;
        const headers = {
          ...(location.length <= MAX_LOCATION_LENGTH && { location }),
          // Signing up and opening a session answer with a token (requests.md#caching).
          ...('sessionToken' in created && { 'cache-control': 'no-store' }),
        };
        return { status: 201, json: JSON.stringify(created), headers };
      },
    },
    {
      method: 'GET',
      path: one,
      handle: async ({ context, params, query }) =>
        ok(await readRecord(context, classOf(params), idOf(params), readOptions(query))),
    },
    {
      method: 'PUT',
      path: one,
      handle: async ({ context, params, body }) =>
        ok(updatedText(await updateRecord(context, classOf(params), idOf(params), fieldsOf(body)))),
    },
    {
      method: 'DELETE',
      path: one,
      async handle({ context, params, body }) {
        await deleteRecord(context, classOf(params), idOf(params), fieldsOf(body));
        return ok('{}');
      },
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
