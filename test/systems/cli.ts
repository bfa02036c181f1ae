import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Run } from '../edge/process.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { type Store, storeOf } from '../support/records.ts';
import type { Answer, CallOptions, EngineName, Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { afterCommand } from '../support/soon.ts';

export interface System {
  appId: string;
  masterKey: string;
  apiKey: string;
}

/** Runs a sub-command on the service's data, in the process that executes all commands of this test process. */
export const command = (service: Service, ...args: string[]): Promise<Run> => runCommand(args, service.settings, service.dataDir);

/** Runs a sub-command that must succeed and returns its output. */
export async function succeed(service: Service, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(service, ...args);
  assert.equal(code, 0, `${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

/** Returns the value that the output shows for a label: `label: value`, `label = value` or JSON. */
export function printed(output: string, label: RegExp): string {
  for (const line of output.split('\n')) {
    const [, name, value] = /^\W*([\w -]+?)"?\s*[:=]\s*"?([^\s",]+)/.exec(line) ?? [];
    if (name !== undefined && value !== undefined && label.test(name)) return value;
  }
  throw new assert.AssertionError({ message: `nothing printed under ${label}:\n${output}` });
}

/** Adds a system and returns its credentials. */
export async function addSystem(service: Service, ...args: string[]): Promise<System> {
  const output = await succeed(service, 'system', 'add', ...args);
  return { appId: printed(output, /app/i), masterKey: printed(output, /master/i), apiKey: printed(output, /api/i) };
}

/** Calls another system of the same service, with its master key unless `as` or a session is given. */
export function callSystem(
  service: Service,
  system: System,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { as = options.session === undefined ? 'master' : 'anonymous', headers = {} } = options;
  const sent: Record<string, string> = { 'X-Platform-Application-Id': system.appId };
  if (as === 'master') sent['X-Platform-Master-Key'] = system.masterKey;
  if (as === 'apiKey') sent['X-Platform-API-Key'] = system.apiKey;
  return service.call(method, path, { ...options, as: 'anonymous', headers: { ...sent, ...headers } });
}

/** Returns the service as if it had this system alone. */
export const serviceOf = (service: Service, system: System): Service => ({
  ...service,
  ...system,
  call: (...request) => callSystem(service, system, ...request),
});

/**
 * Adds a system to the shared service and waits until the service knows it: for suites that need an unused system. Takes a fraction of the
 * time that the start of another service takes.
 */
export async function addUnusedSystem(engine: EngineName): Promise<Service> {
  const service = await sharedService(engine);
  const system = serviceOf(service, await addSystem(service));
  await afterCommand(service, async () => assert.equal((await system.call('GET', '/platform/schemas/_User')).status, 200));
  return system;
}

/** A system of the surrounding `describe` alone, on the shared service. */
export function useUnusedSystem(engine: EngineName): Store {
  let system: Service | undefined;
  before(async () => {
    system = await addUnusedSystem(engine);
  });
  return storeOf(() => system ?? assert.fail('there is no system yet'));
}
