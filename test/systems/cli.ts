import assert from 'node:assert/strict';
import type { Run } from '../edge/process.ts';
import { runCommand } from '../files/commands/run.ts';
import type { Answer, CallOptions, Service } from '../support/service.ts';

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

/** Calls another system of the same service, with its master key unless other credentials are given. */
export function callSystem(
  service: Service,
  system: System,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { as = 'master', headers = {} } = options;
  const sent: Record<string, string> = { 'X-Platform-Application-Id': system.appId };
  if (as === 'master') sent['X-Platform-Master-Key'] = system.masterKey;
  if (as === 'apiKey') sent['X-Platform-API-Key'] = system.apiKey;
  return service.call(method, path, { ...options, as: 'anonymous', headers: { ...sent, ...headers } });
}
