import type { ApiEndpoint } from '../../protocol/api-endpoint.ts';
import type { RecordAnswer } from '../../protocol/protocol.ts';
import { idOf, tableOf } from '../wire/parameters.ts';
import { recordAnswer } from './answer.ts';

export const getRecord: ApiEndpoint = {
  method: 'GET',
  path: '/records/:table/:id',
  run: (context, request): Promise<RecordAnswer> => recordAnswer(context, tableOf(context, request, 'get'), idOf(request)),
};
