import { errorOfItem } from '../../errors/fail.ts';
import { isoText } from '../../kernel/time.ts';
import { applyChanges, type SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import type { RecordContext } from '../context/context.ts';
import type { FollowedNames } from '../context/name-holder.ts';
import type { Attempt, EarlierWrite } from '../context/write-hooks.ts';
import { commitRecords, type PreparedRecord, planRecords, writtenAt } from './commit.ts';
import { type Created, type NewRecord, prepareCreate } from './create.ts';
import type { Precondition } from './precondition.ts';
import { prepareRemove, type RecordRemoval } from './remove.ts';
import { prepareUpdate, type RecordUpdate } from './update.ts';

/** One of several writes of a commit. Each has its own silencing flags. */
export type RecordWrite =
  | ({ readonly kind: 'create'; readonly precondition?: Precondition | undefined } & NewRecord)
  | ({ readonly kind: 'update' } & RecordUpdate)
  | ({ readonly kind: 'delete' } & RecordRemoval);

/** Result of one of them. */
export interface Written {
  readonly objectId: string;
  /** Time of the commit, in ISO 8601. */
  readonly at: string;
}

/**
 * Creates several records in one commit: all of them or none. A later one may point at an earlier one whose objectId the caller chose.
 * @param records in the order in which they are created
 * @throws what `createRecord` throws, for the first record that fails
 */
export async function createAtomically(context: RecordContext, records: readonly NewRecord[]): Promise<readonly Created[]> {
  const written = await writeAtomically(
    context,
    records.map((record) => ({ kind: 'create', ...record })),
  );
  return written.map(({ objectId, at }) => ({ objectId, createdAt: at }));
}

/** Derives schema changes from a schema. Pure. */
export type SchemaPlan = (schema: Schema) => readonly SchemaChange[];

/**
 * Executes several writes in one commit, in their order: all of them or none.
 * @param before schema changes of the same commit; called again if the schema changes before its turn
 * @param followed what follows the schema changes, with its conditions
 * @throws what the operations on single records throw, for the first that fails; what `before` throws; ConditionFailed if a condition does not hold
 */
export async function writeAtomically(
  context: RecordContext,
  writes: readonly RecordWrite[],
  before?: SchemaPlan,
  followed?: Pick<FollowedNames, 'conditions' | 'steps'>,
): Promise<readonly Written[]> {
  const committed = await commitRecords(context, (attempt) => prepareAll(context, writes, attempt, before), {
    ...(before && { changes: before }),
    ...followed,
  });
  return committed.records.map(({ objectId }, item) => ({ objectId, at: isoText(writtenAt(committed, item)) }));
}

/**
 * Checks whether several writes could be committed together, without writing: names, types, permissions of tables and fields, rules of system
 * tables. Does not check what only the commit knows: whether a record exists, is writable for the caller, or holds a duplicate value.
 * @param before as in `writeAtomically`
 * @throws what `writeAtomically` throws for these
 */
export async function checkWrites(context: RecordContext, writes: readonly RecordWrite[], before?: SchemaPlan): Promise<void> {
  const attempt = { at: Date.now(), earlier: [], looksAhead: true };
  planRecords(await prepareAll(context, writes, attempt, before), context.store.schema(), [], before && { changes: before });
}

async function prepareAll(
  context: RecordContext,
  writes: readonly RecordWrite[],
  attempt: Attempt,
  before: SchemaPlan | undefined,
): Promise<PreparedRecord[]> {
  const prepared: PreparedRecord[] = [];
  const earlier: EarlierWrite[] = [];
  // Rules that check a record against the tables see those that the commit makes.
  const changed = before && writes.length > 0 ? schemaAfter(context.store.schema(), before) : {};
  for (const write of writes) {
    const record = await prepareNamed(context, write, { ...attempt, ...changed, earlier }, prepared.length);
    prepared.push(record);
    const { className, objectId, fields } = record;
    earlier.push({ className, action: write.kind === 'delete' ? 'remove' : write.kind, objectId, fields });
  }
  return prepared;
}

function schemaAfter(now: Schema, before: SchemaPlan): Pick<Attempt, 'schema'> {
  const changes = before(now);
  return changes.length > 0 ? { schema: applyChanges(now, changes) } : {};
}

async function prepareNamed(context: RecordContext, write: RecordWrite, attempt: Attempt, item: number): Promise<PreparedRecord> {
  try {
    return await prepareItem(context, write, attempt);
  } catch (error) {
    throw errorOfItem(error, item);
  }
}

/** Prepares one of several writes of a commit. */
export function prepareItem(context: RecordContext, write: RecordWrite, attempt: Attempt): Promise<PreparedRecord> {
  if (write.kind === 'create') return prepareCreate(context, write, attempt);
  return write.kind === 'update' ? prepareUpdate(context, write, attempt) : prepareRemove(context, write, attempt);
}
