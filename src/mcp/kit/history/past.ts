import { authorize, type Grant } from '../../../access/index.ts';
import { ServiceError } from '../../../errors/fail.ts';
import { isJsonObject, own } from '../../../kernel/json.ts';
import { readRow } from '../../../records/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { findRows, getRow } from '../reading/records.ts';
import { pointer } from '../values/wire.ts';

/** Where rows of the timeline are. */
export const TIMELINE = '_Timeline';

/** Written into `data` by the service itself: which trigger wrote. */
export const CAUSE = 'updatedByTrigger';

const idAlone = ['objectId'] as const;

/** The condition for the rows of one record. */
export const rowsOf = ({ className }: TableSchema, objectId: string) => ({ objectClass: className, objectIdValue: objectId });

/**
 * What a caller may see of a record's past: what he may see of the record. Of one that was deleted nothing tells any more whose it was, so
 * that only those see its past who see every record of its table.
 * @returns his rights to the record, and whether it is not there any more
 * @throws objectNotFound (101), permissionDenied (119)
 */
export async function grantOfPast(
  call: ToolCall,
  table: TableSchema,
  objectId: string,
): Promise<Grant & { readonly isGone: boolean }> {
  const { principal, store } = call.context;
  const { className } = table;
  const grant = authorize(principal, 'get', table, store.schema());
  try {
    await getRow(call, className, objectId, { keys: idAlone });
    return { ...grant, isGone: false };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'objectNotFound') throw error;
    const isThere = (await readRow(store, className, idAlone, objectId)) !== null;
    if (isThere || !(await sawAll(call, grant, objectId))) throw error;
  }
  return { ...grant, isGone: true };
}

/** Whether permissions show the caller every record of a table whose ACL does not keep it from him. */
export const seesWhole = ({ rows }: Grant): boolean => rows === null || rows.kind === 'acl';

async function sawAll(call: ToolCall, grant: Grant, objectId: string): Promise<boolean> {
  const { rows, table } = grant;
  if (rows === null || !seesWhole(grant)) return rows === null;
  const where = { ...rowsOf(table, objectId), 'data.ACL': { $exists: true } };
  const guarded = await findRows(call, TIMELINE, { where, keys: ['data.ACL'], limit: 1_000 });
  return !guarded.some(({ data }) => {
    const acl = isJsonObject(data) ? own(data, 'ACL') : undefined;
    return isJsonObject(acl) && Object.keys(acl).length > 0;
  });
}

/** The condition for the writes of a user; `master` for those of keys. */
export const writesOf = (userId: string) => ({ user: pointer('_User', userId) });
