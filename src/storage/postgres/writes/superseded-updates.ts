import type { Field } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { growthOf, hasEdits } from '../../column-values.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { type RowContext, returnedMembers } from '../../sql/row-layout.ts';
import { recordKey } from './compile-group.ts';

type Update = Extract<Mutation, { kind: 'update' }>;

/** The latest update of a record so far. */
interface Last {
  readonly at: number;
  readonly columns: string;
  /** Growth as returned by `growthOf`; 0 if the update is exempt from the size limit. */
  readonly bytes: number;
}

/**
 * Finds edits that need not be executed because the record's next edit sets the same columns: the last one is executed for all, and determines
 * whether the record exists and accepts them. No earlier one may need more bytes than the last one. A Date that each of them advances is advanced once,
 * by a millisecond for each.
 */
export class SupersededUpdates {
  readonly #last = new Map<string, Last>();

  /**
   * Must be called for all writes of a group, in their order.
   * @param requested the write with its edits
   * @param resolved the write with computed values
   * @returns the position of the write that this one supersedes
   */
  next(at: number, requested: WritePlan, resolved: WritePlan): number | undefined {
    const update = hasEdits(requested) ? onlyUpdate(resolved) : null;
    if (!update) {
      // This write may read any record.
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

/** Returns what the update of a superseded write would return. */
export function returnedBy(resolved: WritePlan, context: RowContext): string {
  const update = onlyUpdate(resolved);
  if (!update) return '';
  const values = valuesOf(update);
  return returnedMembers(
    update,
    update.returning.map((field) => values.get(field)),
    context,
  );
}

/** Returns the update of a write that has no other step, reads nothing else and returns only what it sets. */
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
  const dates = update.assignments.filter(({ kind }) => kind === 'advance').length;
  const isKnown = values.size + dates === update.assignments.length && update.returning.every((field) => values.has(field));
  return isKnown ? update : null;
}

/** Whether an index covers an assigned column: the database may then reject the value. */
function isIndexed({ table, assignments }: Update): boolean {
  const set = new Set(assignments.map(({ field }) => field.name));
  return table.indexes.values().some(({ keys }) => keys.some(([name]) => set.has(name)));
}

function valuesOf({ assignments }: Update): Map<Field, StoredValue> {
  return new Map(assignments.flatMap((one) => (one.kind === 'set' ? [[one.field, one.value] as const] : [])));
}

/** Returns a write with a Date that is later by a millisecond for each write that it supersedes. @param last the write that it supersedes */
export function advancedPast(last: WritePlan, plan: WritePlan): WritePlan {
  const step = stepOf(last);
  if (step === 0) return plan;
  const mutations = plan.mutations.map((one): Mutation => {
    if (one.kind !== 'update') return one;
    const assignments = one.assignments.map((set) => (set.kind === 'advance' ? { ...set, step: set.step + step } : set));
    return { ...one, assignments };
  });
  return { ...plan, mutations };
}

function stepOf(plan: WritePlan): number {
  for (const one of onlyUpdate(plan)?.assignments ?? []) if (one.kind === 'advance') return one.step;
  return 0;
}
