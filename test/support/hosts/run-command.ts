/** Runs commands of the program in the host of commands: loading the program takes most of the time of a command. */
import { type Run, runToEnd } from '../../edge/process.ts';
import { compileCache } from '../service.ts';
import type { Command } from './commands.ts';
import { hostOf, order } from './host.ts';

/** Like `runToEnd` (edge/process.ts), for tests that do not depend on the command being a process by itself. */
export async function runCommand(args: readonly string[], env: Record<string, string>, cwd: string): Promise<Run> {
  const host = await hostOf('commands');
  if (host === undefined) return runToEnd(args, env, cwd);
  const command: Command = { args, env: { PATH: process.env.PATH ?? '', ...compileCache, ...env }, cwd };
  return JSON.parse(await order(host, 'POST', '/', command));
}
