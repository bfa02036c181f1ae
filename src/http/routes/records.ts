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

/** An objectId may be of any length (SPEC "Records"), but clients refuse answers whose headers are long, of a write that was made. */
export const MAX_LOCATION_LENGTH = 2_000;

/** Creates a record, and says what the answer holds beside the location. */
type Create = (request: ApiRequest, className: string) => Promise<{ readonly objectId: string }>;

/**
 * SPEC "Records": the operations on the records of a table.
 * @param base the path of the table
 * @param classOf the table that the path names
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
        const headers = location.length <= MAX_LOCATION_LENGTH ? { location } : {};
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

/** What to read of a record; `undefined` for all of it. */
export const readOptions = (query: ApiRequest['query']): ReadOptions | undefined =>
  query.size > 0 ? new ReadParameters(query) : undefined;

const ok = (json: JsonText): ApiReply => ({ status: 200, json });

const idOf = ({ objectId = '' }: Params): string => objectId;

/** Users sign up and sessions are opened whatever path names their table. */
function createOf(users: Users): Create {
  return ({ context, client, body }, className) => {
    const fields = fieldsOf(body);
    if (className === '_User') return users.signUp(context, fields, client.installationId);
    if (className === '_Session') return users.openSession(context, fields, client.sessionToken);
    return createRecord(context, className, fields);
  };
}

/** SPEC "Records"; CONTRACT "Records": `users`, `roles` and `sessions` stand for the tables of these. */
export function classEndpoints(users: Users): readonly Endpoint[] {
  return [
    ...recordEndpoints(users, '/classes/:className', ({ className = '' }) => className),
    ...recordEndpoints(users, '/users', () => '_User'),
    ...recordEndpoints(users, '/roles', () => '_Role'),
    ...recordEndpoints(users, '/sessions', () => '_Session'),
  ];
}

/** SPEC "Aggregation". */
export const aggregateEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/classes-aggregate/:className',
    async handle({ context, params: { className = '' }, query }) {
      return resultsReply({ results: await aggregateRecords(context, className, new AggregateParameters(query)) });
    },
  },
];
