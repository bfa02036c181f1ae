import { errorOfItem, ServiceError } from '../../errors/fail.ts';
import { isoText } from '../../kernel/time.ts';
import type { Schema } from '../../schema/model.ts';
import type { MissingError } from '../../storage/port.ts';
import type { RecordContext } from '../context/context.ts';
import type { Attempt } from '../context/write-hooks.ts';
import { prepareItem, type RecordWrite } from './batch-write.ts';
import { commitRecords, type PreparedRecord, type RecordPlan, writtenAt } from './commit.ts';
import { chosenId, createRecord } from './create.ts';
import { explained, type Precondition } from './precondition.ts';
import { deleteRecord } from './remove.ts';
import { updateRecord } from './update.ts';

/** Result of one write of a transaction. */
export interface TransactionResult {
  readonly objectId: string;
  /** `updatedAt` of the record as stored, or the time of its deletion, in ISO 8601. */
  readonly at: string;
  /** As in `UpdateResult`. */
  readonly returned: string;
}

/**
 * Executes several writes in one commit, in their order: all of them or none. Each sees what the earlier ones did, and fires what it would fire by
 * itself. Reference: batch.md#transactions.
 * @throws what the operations on single records throw, for the first write in their order that fails, with its position (`ServiceError.item`)
 */
export async function writeTransaction(
  context: RecordContext,
  writes: readonly RecordWrite[],
): Promise<readonly TransactionResult[]> {
  if (writes.length === 0) return [];
  /** The write that could not be prepared or planned. Those before it are executed without effect, since one of them may fail first. */
  let refused: { readonly item: number; readonly error: unknown } | undefined;
  const prepare = async (attempt: Attempt): Promise<readonly PreparedRecord[]> => {
    const prepared: PreparedRecord[] = [];
    const earlier: Attempt['earlier'][number][] = [];
    for (const [item, write] of writes.entries()) {
      try {
        const record = await prepareItem(context, write, { ...attempt, earlier });
        prepared.push({
          ...record,
          plan: (schema, resolved) => planUntilRefused(item, () => record.plan(schema, resolved), schema),
        });
        const { className, objectId, fields } = record;
        earlier.push({ className, action: write.kind === 'delete' ? 'remove' : write.kind, objectId, fields });
      } catch (error) {
        if (item === 0 || !(error instanceof ServiceError)) throw errorOfItem(error, item);
        const { className = '', objectId = '' } = prepared.at(-1) ?? {};
        const refuse = (schema: Schema) => planUntilRefused(item, () => fail(error), schema);
        prepared.push({ className, objectId, fields: {}, at: attempt.at, plan: refuse });
        break;
      }
    }
    return prepared;
  };
  const planUntilRefused = (item: number, plan: () => RecordPlan, schema: Schema): RecordPlan => {
    if (item === 0) refused = undefined;
    if (refused) return nothing;
    try {
      return plan();
    } catch (error) {
      if (item === 0 || !(error instanceof ServiceError)) throw error;
      refused = { item, error };
      return failing(schema, error.key === 'unknownFile' ? 'unknownFile' : 'objectNotFound');
    }
  };
  try {
    const committed = await commitRecords(context, prepare);
    return committed.records.map(({ objectId }, item) => {
      const returned = committed.updates.get(item)?.returned ?? '';
      return { objectId, at: isoText(writtenAt(committed, item)), returned };
    });
  } catch (thrown) {
    const error = errorOfItem(thrown, writes.length === 1 ? 0 : undefined);
    const item = error instanceof ServiceError ? error.item : undefined;
    if (item === undefined) throw error;
    if (refused?.item === item) throw errorOfItem(refused.error, item);
    throw await explainedItem(context, writes[item] as RecordWrite, error);
  }
}

/** Executes one write, as its own operation does. @throws what the operation throws */
export async function writeOne(context: RecordContext, write: RecordWrite): Promise<TransactionResult> {
  if (write.kind === 'delete') {
    await deleteRecord(context, write.className, write.objectId, write.body, write.precondition);
    return { objectId: write.objectId, at: isoText(Date.now()), returned: '' };
  }
  if (write.kind === 'update') {
    const { updatedAt, ...updated } = await updateRecord(context, write.className, write.objectId, write.body, write);
    return { ...updated, at: updatedAt };
  }
  try {
    const { objectId, createdAt } = await createRecord(context, write.className, write.body, write.alongside);
    return { objectId, at: createdAt, returned: '' };
  } catch (error) {
    throw await explainedItem(context, write, error);
  }
}

function fail(error: unknown): never {
  throw error;
}

const nothing: RecordPlan = { changes: [], mutations: [], events: [] };

/** Returns the plan of a write that always fails in the commit. */
function failing({ tables }: Schema, missing: MissingError): RecordPlan {
  const [table] = tables.values();
  if (!table) throw new Error('a system without tables');
  return { ...nothing, mutations: [{ kind: 'require', table, filter: { kind: 'never' }, missing }] };
}

function explainedItem(context: RecordContext, write: RecordWrite, error: unknown): Promise<unknown> | unknown {
  const { className } = write;
  const precondition: Precondition | undefined = write.precondition;
  if (!precondition) return error;
  if (write.kind !== 'create')
    return explained(context, { className, objectId: write.objectId, action: write.kind, precondition }, error);
  const objectId = write.objectId ?? chosenId(write.body, context.principal);
  return objectId === undefined ? error : explained(context, { className, objectId, action: 'create', precondition }, error);
}
