import { fail } from '../../errors/fail.ts';
import { MatchingParameters } from '../../query/index.ts';
import { writeMatching, writtenName } from '../../records/index.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import { fieldsOf } from '../endpoint/parse-request.ts';

const kinds = { PUT: 'update', DELETE: 'delete' } as const;

/**
 * Writes of all records of a table that match. Not for batches, whose items have no query string. Reference: records.md#write-many-records.
 */
export const matchingEndpoints: readonly Endpoint[] = [
  ...matchingOf('/classes/:className', ({ className = '' }) => className),
  ...matchingOf('/users', () => '_User'),
  ...matchingOf('/roles', () => '_Role'),
  ...matchingOf('/sessions', () => '_Session'),
];

/** @param classOf table that the path names */
function matchingOf(path: string, classOf: (params: ApiRequest['params']) => string): readonly Endpoint[] {
  return (['PUT', 'DELETE'] as const).map((method) => ({
    method,
    path,
    keyed: 'stepwise',
    async handle({ context, params, query, body, preconditions, client }) {
      // A version is that of one record.
      if (preconditions.ifMatch !== undefined || preconditions.ifNoneMatch !== undefined) fail('preconditionFailed');
      const kind = kinds[method];
      const write = { kind, className: classOf(params), body: fieldsOf(body) };
      client.keepConnection();
      const options = new MatchingParameters(query);
      const { matched, written, ...refused } = await writeMatching(context, write, options, () => client.shouldStop());
      const json = { matched, ...(written !== undefined && { [writtenName(kind)]: written }), ...refused };
      return { status: 200, json: JSON.stringify(json) };
    },
  }));
}
