import type { ApiEndpoint } from '../api-endpoint.ts';
import { getCount } from './count.ts';
import { getMe } from './me.ts';
import { getModel } from './model.ts';
import { postRecord } from './records/create.ts';
import { getRecord } from './records/read.ts';
import { deleteRecordEndpoint } from './records/remove.ts';
import { putRecord } from './records/update.ts';
import { getRows } from './rows/rows.ts';

export { ConflictError } from './records/conflict.ts';

/** The data addresses of the console (CONTRACT "Console"): all go through `crm/` and `access/` as the user. */
export const dataEndpoints: readonly ApiEndpoint[] = [
  getMe,
  getModel,
  getRows,
  getCount,
  postRecord,
  getRecord,
  putRecord,
  deleteRecordEndpoint,
];
