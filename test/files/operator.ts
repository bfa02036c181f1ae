/** What an operator asks and does with the program (docs/decisions.md "Files"). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type Run, runToEnd } from '../edge/process.ts';
import type { Service } from '../support/service.ts';
import { filesBelow } from '../support/stored.ts';

/** Whose data the command works on: a service, and the settings of its files. */
export interface Operated {
  service(): Service;
  env(): Record<string, string>;
}

/** Runs `record-service files …` to its end. */
export const filesCommand = (of: Operated, args: readonly string[], env: Record<string, string> = {}): Promise<Run> =>
  runToEnd(['files', ...args], { ...of.service().settings, ...of.env(), ...env }, of.service().dataDir);

/** The same, which has to succeed; answers what it printed. */
export async function operate(of: Operated, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await filesCommand(of, args, env);
  assert.equal(code, 0, `files ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

export interface Usage {
  files: number;
  bytes: number;
  quota: number | null;
  outOfStorage: boolean;
}

/** What the files of a system take. */
export async function usage(of: Operated, appId = of.service().appId): Promise<Usage> {
  const output = await operate(of, ['usage', '--system', appId]);
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
  const found = await filesBelow(join(dataDir, 'files')).catch(() => []);
  return found.map(({ path }) => path).sort();
}
