import type { ApiEndpoint } from '../protocol/api-endpoint.ts';
import { getChanges } from './changes.ts';
import { getCount } from './count.ts';
import { getHistory } from './history.ts';
import { getMe } from './me.ts';
import { getModel } from './model.ts';
import { postRecord } from './records/create.ts';
import { getRecord } from './records/read.ts';
import { deleteRecordEndpoint } from './records/remove.ts';
import { putRecord } from './records/update.ts';
import { getRelated } from './related.ts';
import { getRows } from './rows/rows.ts';
import { getSearch } from './search.ts';
import { viewEndpoints } from './views/views.ts';

export { ConflictError } from './records/conflict.ts';

/** The data endpoints of the console. All act with the rights of the user, through `crm/` and `access/`. Reference: console.md#console-data. */
export const dataEndpoints: readonly ApiEndpoint[] = [
  getMe,
  getModel,
  getRows,
  getCount,
  postRecord,
  getRecord,
  putRecord,
  deleteRecordEndpoint,
  getRelated,
  getHistory,
  getSearch,
  getChanges,
  ...viewEndpoints,
];
