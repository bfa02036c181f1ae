import { setTimeout as wait } from 'node:timers/promises';
import { systemAct } from '../acts/index.ts';
import { DAY_MS, isoText } from '../kernel/time.ts';
import type { Engine } from '../storage/engine.ts';
import { UsedSinceRemoval } from '../storage/identity.ts';
import type { Exchange, Registry, RegistryContent, RemovedSystem } from '../storage/registry.ts';
import { recordGeneration } from './inspection.ts';
import { printable, refuse } from './new-entry.ts';

/** Returns the application id that a removed system had in force. */
export const ownId = ({ appId, formerAppId }: RemovedSystem): string => formerAppId ?? appId;

/** Returns what an operator can do about a removed system. */
export const waysOut = ({ appId }: RemovedSystem): string =>
  `system restore ${appId} brings it back, system remove ${appId} --now deletes it`;

/** @throws AdministrationError if an application id is taken, in whatever case of letters */
export function refuseTaken({ systems, removed }: RegistryContent, appId: string): void {
  const isSame = (other: string) => other.toLowerCase() === appId.toLowerCase();
  const taken = `the application id ${appId} is taken`;
  if (systems.some((one) => isSame(one.appId))) refuse(taken);
  const aside = removed.find((one) => isSame(ownId(one)));
  if (aside) refuse(`${taken} by a removed system: ${waysOut(aside)}`);
}

/** How long a removed system can be restored, in milliseconds. Reference: faults.md#removed-systems. */
export const RETENTION_MS = 14 * DAY_MS;

/** Returns the deadline of a system that is put aside now. */
export function newExchange(appId: string): Exchange {
  const now = Date.now();
  const deleteAfter = now + RETENTION_MS;
  return { deleteAfter, now, act: systemAct(appId, 'replaced', { until: isoText(deleteAfter) }) };
}

/** A restored system, and other removed ones with the same application id. */
export interface Restored {
  readonly appId: string;
  readonly others: readonly RemovedSystem[];
}

/**
 * Puts a removed system back in force. Reference: faults.md#removed-systems.
 * @param name its application id (of several the one removed last), or `RemovedSystem.appId`
 * @param exchange returns the deadline of the system in force, which is put aside; left out: it is not replaced
 * @throws AdministrationError if there is no such system, or one of its application id is in force and not replaced
 */
export async function restoreRemoved(
  registry: Registry,
  engine: Engine,
  name: string,
  exchange: ((appId: string) => Exchange) | undefined,
): Promise<Restored> {
  const now = Date.now();
  const { systems, removed } = registry.read();
  const named = removed.filter((one) => one.appId === name || ownId(one) === name);
  const [last] = named.filter((one) => one.deleteAfter > now).toSorted((a, b) => b.deleteAfter - a.deleteAfter);
  const found = removed.find((one) => one.appId === name && one.formerAppId !== null) ?? last;
  if (!found || found.deleteAfter <= now)
    return refuse(named.length > 0 ? `${printable(name)} is being deleted` : `there is no removed system ${printable(name)}`);
  const appId = ownId(found);
  const replace = exchange?.(appId);
  if (systems.some((one) => one.appId === appId)) {
    if (!replace)
      return refuse(
        `${appId} is in force: system restore ${name} --replace puts it aside and brings the removed one back instead`,
      );
    await recordGeneration(registry, engine, appId);
  }
  if (!(await registry.restoreSystem(found.appId, now, replace, systemAct(appId, 'restored'))))
    return refuse(`${appId} was not restored: another process has exchanged or deleted it meanwhile`);
  const left = registry.read().removed;
  return { appId, others: left.filter((one) => ownId(one) === appId && one.deleteAfter > now) };
}

/** Milliseconds within which a process that closes a store records the store's last generation in the registry. */
const CLOSING_TIMEOUT_MS = 5_000;
const RETRY_INTERVAL_MS = 100;

/**
 * Removes the store of a system that the registry removed. Processes that served it close it at about the same time, each with a new generation
 * that the registry learns a moment later.
 * @returns its place; `null` if there is no such system
 * @throws what `Engine.remove` throws; UsedSinceRemoval if the registry does not learn the generation in time
 */
export async function removeStore(registry: Registry, engine: Engine, appId: string): Promise<string | null> {
  for (const deadline = performance.now() + CLOSING_TIMEOUT_MS; ; await wait(RETRY_INTERVAL_MS)) {
    const known = await registry.storeOf(appId);
    if (!known) return null;
    try {
      await engine.remove(known.place, known);
      return known.place;
    } catch (error) {
      if (!(error instanceof UsedSinceRemoval) || performance.now() > deadline) throw error;
    }
  }
}
