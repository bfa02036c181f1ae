import type { Registry } from '../storage/registry.ts';
import { openDestination } from '../transfer/backup/destinations/destination.ts';
import { timeOfBackup } from '../transfer/backup/destinations/names.ts';

/**
 * Returns since when the system that was backed up longest ago has had no newer backup at BACKUP_URL, in milliseconds since 1970. A system without any
 * counts from its creation; without systems: `null`.
 * @throws OperatorError, errors of the destination
 */
export async function oldestBackup(url: string, registry: Pick<Registry, 'read'>): Promise<number | null> {
  const newest = new Map<string, number>();
  const destination = await openDestination(url, 'BACKUP_URL');
  try {
    for await (const { appId, name } of destination.list()) {
      const at = timeOfBackup(name);
      if (at !== null && at > (newest.get(appId) ?? Number.NEGATIVE_INFINITY)) newest.set(appId, at);
    }
  } finally {
    destination.close();
  }
  const times = registry.read().systems.map(({ appId, createdAt }) => newest.get(appId) ?? createdAt);
  return times.length > 0 ? Math.min(...times) : null;
}
