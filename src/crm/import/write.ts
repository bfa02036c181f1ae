import { mayView } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { checkTogether, type RecordWrite } from '../../records/index.ts';
import { Overtaken } from '../../storage/port.ts';
import { bodyOf, createRow, updateRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { badArguments } from '../refusals.ts';

/** What becomes of a row that is a record already. */
export type OnDuplicate = 'skip' | 'create' | 'update';

/** A row that has been read. */
export interface Item {
  /** Which its record is created by: as long as no other process has made one like it. */
  readonly context: CrmContext;
  readonly data: JsonObject;
  readonly faults: readonly string[];
  /** What it is compared by with the other rows; `undefined` where it is like none. */
  readonly key: string | undefined;
  /** The records that it is already. */
  readonly ids: readonly string[];
  /** Whether it names its record by objectId. */
  readonly isNamed: boolean;
}

/** What was done with a row. `objectId` is `null` for one that a dry run would create. */
interface Done {
  readonly objectId: string | null;
  readonly row: number;
  readonly told: JsonObject;
}

const EXPECTED = 'Values of the types that the fields have; for a Pointer a name or objectId of the table that it points at';

/** So many of several records are named. */
const MAX_SHOWN = 5;

/** How rows are written. */
export interface RowOptions {
  readonly onDuplicate: OnDuplicate;
  readonly dryRun: boolean;
  /** Does the work of a row with the records that it is by now: another process has made one. */
  readonly lookAgain: <T>(item: Item, work: (item: Item) => Promise<T>) => Promise<T>;
}

/**
 * Writes rows, or says what it would write. A row that is like an earlier one waits for that, and is then a duplicate of its record.
 * @returns for each row what was done: `{action, objectId}`
 */
export function rowWriter(
  context: CrmContext,
  className: string,
  { onDuplicate, dryRun, lookAgain }: RowOptions,
): (item: Item, index: number) => Promise<JsonObject> {
  const earlier = new Map<string, Promise<Done | null>>();
  const tellsIds = mayView(context.principal);

  const carryOut = async (item: Item, row: number, before: Promise<Done | null>): Promise<Done> => {
    const like = await before;
    try {
      return await settle(item, row, like);
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      return lookAgain(item, (now) => settle(now, row, like));
    }
  };

  const settle = async (item: Item, row: number, like: Done | null): Promise<Done> => {
    const { data, faults, ids, isNamed } = item;
    if (faults.length > 0) badArguments(faults.join('; '), { expected: EXPECTED, next: 'Get-Lookup-Values' });
    if (isNamed && onDuplicate === 'create')
      badArguments('objectId: the record exists already', { expected: 'Leave objectId out, or set onDuplicate to update' });
    if (ids.length > 1 && onDuplicate === 'update')
      badArguments(`${ids.length} records match${tellsIds ? `: ${ids.slice(0, MAX_SHOWN).join(', ')}` : ''}`, {
        expected: 'Match on more fields',
      });
    const objectId = ids[0] ?? like?.objectId ?? null;
    const isDuplicate = ids.length > 0 || like !== null;
    const same = ids.length === 0 && like ? { sameAsRow: like.row } : {};
    if (!isDuplicate || onDuplicate === 'create') return create(item, row);
    if (onDuplicate === 'skip') return { objectId, row, told: { action: 'skipped', ...(tellsIds && { objectId }), ...same } };
    return { objectId, row, told: await update(objectId, data, same) };
  };

  const create = async ({ context: own, data }: Item, row: number): Promise<Done> => {
    if (dryRun) {
      await check({ kind: 'create', className, body: bodyOf(context, data) });
      return { objectId: null, row, told: { action: 'created', data } };
    }
    const { objectId } = await createRow(own, className, data);
    return { objectId, row, told: { action: 'created', objectId } };
  };

  const update = async (objectId: string | null, data: JsonObject, same: JsonObject): Promise<JsonObject> => {
    if (dryRun && objectId !== null) await check({ kind: 'update', className, objectId, body: bodyOf(context, data) });
    if (dryRun || objectId === null) return { action: 'updated', objectId, data, ...same };
    await updateRow(context, className, objectId, data);
    return { action: 'updated', objectId, ...same };
  };

  const check = (write: RecordWrite): Promise<void> => checkTogether(context, [write]);

  return async (item, row) => {
    const { key } = item;
    const before = (key === undefined ? undefined : earlier.get(key)) ?? Promise.resolve(null);
    const done = carryOut(item, row, before);
    // What an earlier row could not make, a later one may.
    if (key !== undefined)
      earlier.set(
        key,
        done.catch(() => before),
      );
    return (await done).told;
  };
}
