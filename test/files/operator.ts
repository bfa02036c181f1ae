/** What an operator asks and does with the program (docs/decisions.md "Files"). */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Run, runToEnd } from '../edge/process.ts';
import type { Service } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { callSystem, printed, type System } from '../systems/cli.ts';
import { runCommand } from './commands/run.ts';

/** Whose data the command works on: a service, and the settings of its files. */
export interface Operated {
  service(): Service;
  env(): Record<string, string>;
}

type Runner = typeof runToEnd;

/** Runs `record-service files …` to its end. @param run in a process of its own, or in one of many commands */
export const filesCommand = (
  of: Operated,
  args: readonly string[],
  env: Record<string, string> = {},
  run: Runner = runToEnd,
): Promise<Run> => run(['files', ...args], { ...of.service().settings, ...of.env(), ...env }, of.service().dataDir);

/** The same, which has to succeed, in a process of many commands; answers what it printed. */
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

/** Adds a system and answers its credentials, once the service knows it. */
export async function addSystem(service: Service): Promise<System> {
  const { code, stdout, stderr } = await runCommand(['system', 'add'], service.settings, service.dataDir);
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

/** What the files of a system take. */
export async function usage(of: Operated, appId = of.service().appId, run?: Runner): Promise<Usage> {
  const output = await operate(of, ['usage', '--system', appId], {}, run);
  const said = (label: string) => {
    const value = new RegExp(`^${label}: (\\S+)$`, 'm').exec(output)?.[1];
    assert.ok(value !== undefined, `${label} in:\n${output}`);
    return value;
  };
  const quota = said('quota');
  return {
    files: Number(said('files')),
    bytes: Number(said('bytes')),
    quota: quota === 'none' ? null : Number(quota),
    outOfStorage: said('outOfStorage') === 'true',
  };
}

/** The files that the data directory holds for uploads, by path. */
export async function onDisk({ dataDir }: Pick<Service, 'dataDir'>): Promise<string[]> {
  const found = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true }).catch(() => []);
  return found.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
}
