import { AggregateParameters } from '../../query/aggregate/index.ts';
import { aggregateRecords } from '../../records/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { resultsReply } from '../results.ts';

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
