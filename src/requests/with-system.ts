import type { System, Systems } from '../systems/index.ts';

/**
 * Holds a system open while some work runs, for endpoints that answer without a caller.
 * @param appId from a path; `undefined` if the path has none
 * @returns what `work` returns; `undefined` if there is no such system
 * @throws unauthorized (403) for a removed system. Reference: faults.md#removed-systems.
 */
export async function withSystem<T>(
  systems: Pick<Systems, 'enter'>,
  appId: string | undefined,
  work: (system: System) => Promise<T>,
): Promise<T | undefined> {
  const system = appId === undefined ? undefined : await systems.enter(appId);
  if (!system) return undefined;
  try {
    return await work(system);
  } finally {
    system.release();
  }
}
