import type { ApiEndpoint } from '../protocol/api-endpoint.ts';
import type { CountAnswer } from '../protocol/protocol.ts';
import { count } from './rows/jump.ts';
import { mapFilterErrors, tableOf, whereOf } from './wire/parameters.ts';

/** Counts the matching records that the caller may count. */
export const getCount: ApiEndpoint = {
  method: 'GET',
  path: '/count/:table',
  async run(context, request): Promise<CountAnswer> {
    const { className } = tableOf(context, request, 'count');
    const query = { context: { ...context, until: context.signal }, className, where: whereOf(request) };
    return { count: await mapFilterErrors(() => count(query)) };
  },
};
