import { countRows } from '../../crm/queries/records.ts';
import type { ApiEndpoint } from '../protocol/api-endpoint.ts';
import type { CountAnswer } from '../protocol/protocol.ts';
import { Landmarks } from './rows/landmarks.ts';
import { asked, tableOf, whereOf } from './wire/parameters.ts';

/** How many records match, of those that the caller may count. */
export const getCount: ApiEndpoint = {
  method: 'GET',
  path: '/count/:table',
  async run(context, request): Promise<CountAnswer> {
    const { className } = tableOf(context, request, 'count');
    const where = whereOf(request);
    const landmarks = Landmarks.of(context, className, where);
    const count = await asked(() => countRows(context, className, where));
    landmarks?.counted(count);
    return { count };
  },
};
