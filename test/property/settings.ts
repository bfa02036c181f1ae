import type { Parameters } from 'fast-check';

/**
 * Settings of a property: `PROPERTY_RUNS` multiplies the runs for a long search, `PROPERTY_SEED` repeats one. A failure prints the seed, the path and
 * the smallest counterexample found in time.
 */
export function settings<T>(runs: number): Parameters<T> {
  const { PROPERTY_RUNS, PROPERTY_SEED } = process.env;
  return {
    numRuns: runs * Number(PROPERTY_RUNS ?? 1),
    ...(PROPERTY_SEED ? { seed: Number(PROPERTY_SEED) } : {}),
    // Shrinking may take long: it stops here and keeps the smallest counterexample so far.
    interruptAfterTimeLimit: 120_000 * Number(PROPERTY_RUNS ?? 1),
    markInterruptAsFailure: false,
  };
}
