import { mayView } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { checkWrites, type RecordWrite } from '../../records/index.ts';
import { ConditionFailed } from '../../storage/port.ts';
import { bodyOf, createRow, updateRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { badArguments } from '../refusals.ts';

/** How a row that matches an existing record is handled. */
export type OnDuplicate = 'skip' | 'create' | 'update';

/** A row that has been read. */
export interface Item {
  /** Context for creating its record: the write fails if another process has created a record with the same key. */
  readonly context: CrmContext;
  readonly data: JsonObject;
  readonly faults: readonly string[];
  /** Comparison key; `undefined` if the row has none. */
  readonly key: string | undefined;
  /** The records that the row matches. */
  readonly ids: readonly string[];
  /** Whether the row names its record by objectId. */
  readonly isNamed: boolean;
}

/** What was done with a row. `objectId` is `null` for a record that a dry run would create. */
interface Done {
  readonly objectId: string | null;
  readonly row: number;
  readonly result: JsonObject;
}

const EXPECTED = 'Values of the types that the fields have; for a Pointer a name or objectId of the table that it points at';

/** Maximum number of matching records listed. */
const MAX_SHOWN = 5;

/** Options for writing rows. */
export interface RowOptions {
  readonly onDuplicate: OnDuplicate;
  readonly dryRun: boolean;
  /** Re-runs the work of a row with the records that match now, after another process created one. */
  readonly lookAgain: <T>(item: Item, work: (item: Item) => Promise<T>) => Promise<T>;
}

/**
 * Returns a function that writes one row, or describes what it would write. A row with the same key as an earlier one waits for it and is then a
 * duplicate of its record.
 * @returns per row what was done: `{action, objectId}`
 */
export function rowWriter(
  context: CrmContext,
  className: string,
  { onDuplicate, dryRun, lookAgain }: RowOptions,
): (item: Item, index: number) => Promise<JsonObject> {
  const earlier = new Map<string, Promise<Done | null>>();
  const showsIds = mayView(context.principal);

  const execute = async (item: Item, row: number, before: Promise<Done | null>): Promise<Done> => {
    const like = await before;
    try {
      return await writeRow(item, row, like);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return lookAgain(item, (now) => writeRow(now, row, like));
    }
  };

  const writeRow = async (item: Item, row: number, like: Done | null): Promise<Done> => {
    const { data, faults, ids, isNamed } = item;
    if (faults.length > 0) badArguments(faults.join('; '), { expected: EXPECTED, next: 'Get-Lookup-Values' });
    if (isNamed && onDuplicate === 'create')
      badArguments('objectId: the record exists already', { expected: 'Leave objectId out, or set onDuplicate to update' });
    if (ids.length > 1 && onDuplicate === 'update')
      badArguments(`${ids.length} records match${showsIds ? `: ${ids.slice(0, MAX_SHOWN).join(', ')}` : ''}`, {
        expected: 'Match on more fields',
      });
    const objectId = ids[0] ?? like?.objectId ?? null;
    const isDuplicate = ids.length > 0 || like !== null;
    const same = ids.length === 0 && like ? { sameAsRow: like.row } : {};
    if (!isDuplicate || onDuplicate === 'create') return create(item, row);
    if (onDuplicate === 'skip') return { objectId, row, result: { action: 'skipped', ...(showsIds && { objectId }), ...same } };
    return { objectId, row, result: await update(objectId, data, same) };
  };

  const create = async ({ context: own, data }: Item, row: number): Promise<Done> => {
    if (dryRun) {
      await check({ kind: 'create', className, body: bodyOf(context, data) });
      return { objectId: null, row, result: { action: 'created', data } };
    }
    const { objectId } = await createRow(own, className, data);
    return { objectId, row, result: { action: 'created', objectId } };
  };

  const update = async (objectId: string | null, data: JsonObject, same: JsonObject): Promise<JsonObject> => {
    if (dryRun && objectId !== null) await check({ kind: 'update', className, objectId, body: bodyOf(context, data) });
    if (dryRun || objectId === null) return { action: 'updated', objectId, data, ...same };
    await updateRow(context, className, objectId, data);
    return { action: 'updated', objectId, ...same };
  };

  const check = (write: RecordWrite): Promise<void> => checkWrites(context, [write]);

  return async (item, row) => {
    const { key } = item;
    const before = (key === undefined ? undefined : earlier.get(key)) ?? Promise.resolve(null);
    const done = execute(item, row, before);
    // If the earlier row failed, a later one with the same key is handled like the first.
    if (key !== undefined)
      earlier.set(
        key,
        done.catch(() => before),
      );
    return (await done).result;
  };
}
