/** Commands about files (commands.md). */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run, runToEnd } from '../edge/process.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import type { Service } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { callSystem, printed, type System } from '../systems/cli.ts';

/** The service whose data a command works on, and the settings of its files. */
export interface Operated {
  service(): Service;
  env(): Record<string, string>;
}

type Runner = typeof runToEnd;

/** Runs `record-service files …`. @param run in a process of its own, or in the process for all commands */
export const filesCommand = (
  of: Operated,
  args: readonly string[],
  env: Record<string, string> = {},
  run: Runner = runCommand,
): Promise<Run> => run(['files', ...args], { ...of.service().settings, ...of.env(), ...env }, of.service().dataDir);

/** Like `filesCommand`, for a command that must succeed. Returns its output. */
export async function operate(
  of: Operated,
  args: readonly string[],
  env: Record<string, string> = {},
  run: Runner = runCommand,
): Promise<string> {
  const { code, stdout, stderr } = await filesCommand(of, args, env, run);
  assert.equal(code, 0, `files ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

/** Adds a system and returns its credentials, once the service knows it. @param env further settings of the service */
export async function addSystem(service: Service, env: Record<string, string> = {}): Promise<System> {
  const { code, stdout, stderr } = await runCommand(['system', 'add'], { ...service.settings, ...env }, service.dataDir);
  assert.equal(code, 0, `system add:\n${stdout}${stderr}`);
  const system = { appId: printed(stdout, /app/i), masterKey: printed(stdout, /master/i), apiKey: printed(stdout, /api/i) };
  await afterCommand(service, async () => {
    assert.equal((await callSystem(service, system, 'GET', '/platform/schemas/_User')).status, 200);
  });
  return system;
}

export interface Usage {
  files: number;
  bytes: number;
  quota: number | null;
  outOfStorage: boolean;
}

/** Returns the storage used by the files of a system. */
export async function usage(of: Operated, appId = of.service().appId, run?: Runner): Promise<Usage> {
  const output = await operate(of, ['usage', '--system', appId], {}, run);
  const printedAs = (label: string) => {
    const value = new RegExp(`^${label}: (\\S+)$`, 'm').exec(output)?.[1];
    assert.ok(value !== undefined, `${label} in:\n${output}`);
    return value;
  };
  const quota = printedAs('quota');
  return {
    files: Number(printedAs('files')),
    bytes: Number(printedAs('bytes')),
    quota: quota === 'none' ? null : Number(quota),
    outOfStorage: printedAs('outOfStorage') === 'true',
  };
}

/** Returns the paths of all uploaded files in the data directory. */
export async function onDisk({ dataDir }: Pick<Service, 'dataDir'>): Promise<string[]> {
  const found = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true }).catch(() => []);
  return found.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
}
