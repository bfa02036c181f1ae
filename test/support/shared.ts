/** Services that the suites of a process share: a start costs as much as dozens of tests, and a warm service answers faster. */
import { isClusterSuite } from './cluster-suites.ts';
import { type EngineName, type Service, startService } from './service.ts';

const started = new Map<string, Promise<Service>>();

/**
 * Returns the service of these settings, with the default first system; it stops when the process has run all its tests (service.ts). Suites that
 * stop the service, read everything it holds or has written, or change what others rely on, start their own.
 */
export function sharedService(
  engine: EngineName,
  env: Record<string, string> = {},
  isCluster = isClusterSuite(),
): Promise<Service> {
  const key = JSON.stringify([engine, env, engine === 'postgres' && isCluster]);
  const service = started.get(key) ?? startService({ engine, env, isCluster });
  started.set(key, service);
  return service;
}
