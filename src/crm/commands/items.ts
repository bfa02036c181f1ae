import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { type Conditions, faultPlace } from '../../observe/index.ts';

/** Writes that are under way at once: they share a commit. */
const BATCH_SIZE = 1_000;

/** One item's outcome, as in a batch (SPEC "Batch"). */
export type ItemOutcome = { readonly success: JsonValue } | { readonly error: unknown };

/**
 * Does something for each item; each has its own outcome, in order, without rollback (SPEC "Agent-tool layer": Create-Many).
 * @param report told of faults of ours, which an item's outcome does not show
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

/** For `eachItem`. */
export const reporter =
  (conditions: Pick<Conditions, 'met'>) =>
  (error: unknown): void =>
    conditions.met('an item of a tool failed', faultPlace(error), error);

/** How many of the outcomes are which. */
export function tally(outcomes: readonly ItemOutcome[]): { succeeded: number; failed: number } {
  const failed = outcomes.filter((one) => 'error' in one).length;
  return { succeeded: outcomes.length - failed, failed };
}
