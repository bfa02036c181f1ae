import { authorize, type Grant } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import { readRow } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { getRow } from '../queries/records.ts';
import { pointer } from '../wire/values.ts';

/** The table of the timeline. */
export const TIMELINE = '_Timeline';

const idAlone = ['objectId'] as const;

/** Condition for the timeline rows of one record. */
export const rowsOf = ({ className }: TableSchema, objectId: string) => ({ objectClass: className, objectIdValue: objectId });

/**
 * Returns the caller's rights to a record's past: those to the record. For a deleted record, the permissions of its table decide.
 * @returns the grant, and whether the record is deleted
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

/** Condition for the writes of a user; `master` for writes with a key. */
export const writesOf = (userId: string) => ({ user: pointer('_User', userId) });
