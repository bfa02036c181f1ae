import { deleteRecord } from '../../../records/index.ts';
import type { ApiEndpoint } from '../../protocol/api-endpoint.ts';
import { idOf, tableOf } from '../wire/parameters.ts';

/** Deletes a record. @throws pointedAt (119) if other records point at it; `related` lists them */
export const deleteRecordEndpoint: ApiEndpoint = {
  method: 'DELETE',
  path: '/records/:table/:id',
  async run(context, request) {
    const { className } = tableOf(context, request, 'delete');
    await deleteRecord(context, className, idOf(request), {});
    return {};
  },
};
