import { grantFor } from '../../../access/index.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { getRow, type Row } from '../../../crm/queries/records.ts';
import { unscopedRows } from '../../../crm/queries/unscoped-reads.ts';
import { accessErrors, unless } from '../../../crm/refusals.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { RecordAnswer } from '../../protocol/protocol.ts';
import { rowNames } from '../wire/names.ts';

/**
 * Returns a record with the names of its Pointers' targets, and what the caller may do with it.
 * @throws objectNotFound (101), permissionDenied (119)
 */
export async function recordAnswer(context: CrmContext, table: TableSchema, objectId: string): Promise<RecordAnswer> {
  return answerOf(context, table, await getRow(context, table.className, objectId));
}

/** Like `recordAnswer`, for a record that was read already. */
export async function answerOf(context: CrmContext, table: TableSchema, record: Row): Promise<RecordAnswer> {
  const { objectId } = record;
  const [names, update, remove] = await Promise.all([
    rowNames(context, [record]),
    mayDo(context, table, objectId, 'update'),
    mayDo(context, table, objectId, 'delete'),
  ]);
  return { record, names, may: { update, delete: remove } };
}

/** Like `recordAnswer`, for a written record that the writer may not be allowed to read. @param written the known fields, used in that case */
export async function writtenAnswer(context: CrmContext, table: TableSchema, written: Row): Promise<RecordAnswer> {
  const answer = await unless(['objectNotFound', ...accessErrors], null, () => recordAnswer(context, table, written.objectId));
  return answer ?? { record: written, names: {}, may: { update: false, delete: false } };
}

/** Whether the caller's grant for an action includes this record. */
export async function mayDo(
  { store, principal }: CrmContext,
  { className }: TableSchema,
  objectId: string,
  action: 'update' | 'delete',
): Promise<boolean> {
  const schema = store.schema();
  const table = schema.tables.get(className);
  const grant = table ? grantFor(principal, action, table, schema) : null;
  if (!grant?.rows) return grant !== null;
  const record = { className, field: 'objectId', values: [objectId], keys: ['objectId'], limit: 1, grant };
  return (await unscopedRows(store, record)).length > 0;
}
