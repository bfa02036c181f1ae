import { authorize, type Grant } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import { readRow } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { getRow } from '../queries/records.ts';
import { pointer } from '../wire/values.ts';

/** Where rows of the timeline are. */
export const TIMELINE = '_Timeline';

const idAlone = ['objectId'] as const;

/** The condition for the rows of one record. */
export const rowsOf = ({ className }: TableSchema, objectId: string) => ({ objectClass: className, objectIdValue: objectId });

/**
 * What a caller may see of a record's past: what he may see of the record. Of one that was deleted the timeline shows what he may.
 * @returns his rights to the record, and whether it is not there any more
 * @throws objectNotFound (101), permissionDenied (119)
 */
export async function grantOfPast(
  context: CrmContext,
  table: TableSchema,
  objectId: string,
): Promise<Grant & { readonly isGone: boolean }> {
  const { principal, store } = context;
  const { className } = table;
  const grant = authorize(principal, 'get', table, store.schema());
  try {
    await getRow(context, className, objectId, { keys: idAlone });
    return { ...grant, isGone: false };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'objectNotFound') throw error;
    if ((await readRow(store, className, idAlone, objectId)) !== null) throw error;
  }
  return { ...grant, isGone: true };
}

/** The condition for the writes of a user; `master` for those of keys. */
export const writesOf = (userId: string) => ({ user: pointer('_User', userId) });
