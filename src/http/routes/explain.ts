import { FindParameters } from '../../query/index.ts';
import { explainRecords } from '../../records/index.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';

/** How the database would run a query, and which indexes would help. Reference: explain.md#request. */
export const explainEndpoint: Endpoint = {
  method: 'GET',
  path: '/explain/classes/:className',
  async handle({ context, params: { className = '' }, query }) {
    return { status: 200, json: JSON.stringify(await explainRecords(context, className, new FindParameters(query))) };
  },
};
