import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds of a step that others hardly notice: some four hundred records. */
const STEP_MS = 5;
/** Records of a step: of the first, and at the least and the most. */
const FIRST_COUNT = 100;
const MIN_COUNT = 10;
const MAX_COUNT = 1_000;
/** Milliseconds between two steps, at the least. */
const MIN_PAUSE_MS = 3;

/** One step, a commit of its own. @returns the milliseconds of work that so many records took; `null` where none is left */
type Step = (count: number) => Promise<number | null>;

/**
 * Fills a search index step by step. Between two steps others have as much time as the step with its commit took, which is longer the more there is to do.
 * @param isEnough asked before each step
 */
export async function fillInSteps(step: Step, isEnough: () => boolean): Promise<void> {
  for (let count = FIRST_COUNT; !isEnough(); ) {
    const started = performance.now();
    const tookMs = await step(count);
    if (tookMs === null) return;
    count = Math.round(Math.max(MIN_COUNT, Math.min(MAX_COUNT, 2 * count, (count * STEP_MS) / Math.max(tookMs, 0.1))));
    await wait(Math.max(MIN_PAUSE_MS, performance.now() - started));
  }
}
