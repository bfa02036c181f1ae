import type { System, Systems } from '../systems/index.ts';

/**
 * Holds a system for the time of some work, for addresses that answer without a caller.
 * @param appId as a path names it; `undefined` where it names none
 * @returns what the work returns; `undefined` where there is no such system
 * @throws unauthorized (403) for one that was removed (CONTRACT "Operations")
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
