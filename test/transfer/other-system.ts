/** Systems of a service other than the first. */

import assert from 'node:assert/strict';
import type { EngineName, Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { afterCommand } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';

/** Returns the service with the credentials of another of its systems. */
export function seenAs(service: Service, system: System): Service {
  return {
    ...service,
    ...system,
    call(method, path, options = {}) {
      const { session, headers = {} } = options;
      if (session === undefined) return callSystem(service, system, method, path, options);
      const sent = { 'X-Platform-Session-Token': session, ...headers };
      return callSystem(service, system, method, path, { ...options, as: 'anonymous', headers: sent });
    },
  };
}

/** Waits until the service serves a system that a command has created. */
export const isServed = (service: Service, system: System): Promise<void> =>
  afterCommand(service, async () => {
    const { status, text } = await callSystem(service, system, 'GET', '/platform/schemas');
    assert.equal(status, 200, text);
  });

/** Adds a system to the service that suites share. @returns the service with its credentials */
export async function freshSystem(engine: EngineName): Promise<Service> {
  const service = await sharedService(engine);
  const system = await addSystem(service);
  await isServed(service, system);
  return seenAs(service, system);
}
