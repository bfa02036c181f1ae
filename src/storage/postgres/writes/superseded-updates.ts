import type { Field } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { growthOf } from '../../column-values.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { type RowContext, returnedMembers } from '../../sql/row-layout.ts';
import { recordKey } from './compile-group.ts';
import { hasEdits } from './json-updates.ts';

type Update = Extract<Mutation, { kind: 'update' }>;

/** The last update of a record so far. */
interface Last {
  readonly at: number;
  readonly columns: string;
  /** As `growthOf`; what is not held to the size of the record counts as nothing. */
  readonly bytes: number;
}

/**
 * Finds edits that need not be carried out since the next one of their record sets the same columns: the last of them is carried out for
 * all, and tells whether the record is there and takes them. None of them may ask for more than the last one: it is no smaller.
 */
export class SupersededUpdates {
  readonly #last = new Map<string, Last>();

  /**
   * To be told of all writes of a group, in their order.
   * @param asked the write with its edits
   * @param settled the write as it is carried out
   * @returns the place of the write that it covers
   */
  next(at: number, asked: WritePlan, settled: WritePlan): number | undefined {
    const update = hasEdits(asked) ? onlyUpdate(settled) : null;
    if (!update) {
      // It may look at any record.
      this.#last.clear();
      return undefined;
    }
    const key = recordKey(update.table.className, update.objectId);
    const columns = update.assignments.map(({ field }) => field.column).sort();
    const last = { at, columns: [update.missing, ...columns].join('\n'), bytes: growthOf(update) ?? 0 };
    const before = this.#last.get(key);
    this.#last.set(key, last);
    return before && before.columns === last.columns && before.bytes <= last.bytes ? before.at : undefined;
  }
}

/** What a covered write returns, as its update would. */
export function returnedBy(settled: WritePlan, context: RowContext): string {
  const update = onlyUpdate(settled);
  if (!update) return '';
  const values = valuesOf(update);
  return returnedMembers(
    update,
    update.returning.map((field) => values.get(field)),
    context,
  );
}

/** The update of a write that does nothing else, looks at nothing else and returns nothing but what it sets. */
function onlyUpdate({ mutations, conditions = [] }: WritePlan): Update | null {
  const [update, ...others] = mutations;
  if (update?.kind !== 'update' || others.length > 0 || conditions.length > 0) return null;
  if (
    isIndexed(update) ||
    update.guard ||
    update.returningGuard ||
    update.condition ||
    uniqueFieldsOf(update.table.className).size > 0
  )
    return null;
  const values = valuesOf(update);
  return values.size === update.assignments.length && update.returning.every((field) => values.has(field)) ? update : null;
}

/** Whether an index holds a value that is set: the database may refuse it. */
function isIndexed({ table, assignments }: Update): boolean {
  const set = new Set(assignments.map(({ field }) => field.name));
  return table.indexes.values().some(({ keys }) => keys.some(([name]) => set.has(name)));
}

function valuesOf({ assignments }: Update): Map<Field, StoredValue> {
  return new Map(assignments.flatMap((one) => (one.kind === 'set' ? [[one.field, one.value] as const] : [])));
}
