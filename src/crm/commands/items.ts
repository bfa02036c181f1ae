import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { type Conditions, faultPlace } from '../../observe/index.ts';

/** Concurrent writes; they share a commit. */
const BATCH_SIZE = 1_000;

/** The result of one item, as in a batch (batch.md#answers). */
export type ItemOutcome = { readonly success: JsonValue } | { readonly error: unknown };

/**
 * Executes work for each item. Each item has its own result, in order, without rollback, as in a batch (batch.md#answers).
 * @param report called for faults of the service, whose details an item's result does not show
 */
export async function eachItem<T>(
  items: readonly T[],
  report: (error: unknown) => void,
  work: (item: T, index: number) => Promise<JsonValue>,
): Promise<ItemOutcome[]> {
  const outcomes: ItemOutcome[] = [];
  for (let at = 0; at < items.length; at += BATCH_SIZE) {
    if (at > 0) await nextTurn();
    const slice = items.slice(at, at + BATCH_SIZE).map(async (item, index): Promise<ItemOutcome> => {
      try {
        return { success: await work(item, at + index) };
      } catch (error) {
        if (!(error instanceof ServiceError)) report(error);
        return { error };
      }
    });
    outcomes.push(...(await Promise.all(slice)));
  }
  return outcomes;
}

/** Returns the `report` callback for `eachItem`. */
export const reporter =
  (conditions: Pick<Conditions, 'met'>) =>
  (error: unknown): void =>
    conditions.met('an item of a tool failed', faultPlace(error), error);

/** Counts successes and failures. */
export function tally(outcomes: readonly ItemOutcome[]): { succeeded: number; failed: number } {
  const failed = outcomes.filter((one) => 'error' in one).length;
  return { succeeded: outcomes.length - failed, failed };
}
