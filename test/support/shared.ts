/** Services that the suites of a process share: a start costs as much as dozens of tests, and a service that has run for a while answers faster. */
import { type EngineName, type Service, startService } from './service.ts';

const started = new Map<string, Promise<Service>>();

/**
 * The service of these settings, with the usual first system; it is stopped when the process has run all its tests (service.ts). Suites that stop it, look at
 * all that it holds or wrote, or change what others rely on, start one of their own.
 */
export function sharedService(engine: EngineName, env: Record<string, string> = {}): Promise<Service> {
  const key = JSON.stringify([engine, env]);
  const service = started.get(key) ?? startService({ engine, env });
  started.set(key, service);
  return service;
}
