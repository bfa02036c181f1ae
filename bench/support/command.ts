import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compileCache, flagsOf } from '../../scripts/runtime.mjs';
import { MemoryWatch } from './memory.ts';
import type { Scratch } from './scratch.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface CommandResult {
  code: number | null;
  seconds: number;
  output: string;
  memory: MemoryWatch;
}

/** Executes a sub-command on a data directory. @param env additional settings */
export async function runCommand(
  scratch: Scratch,
  dataDir: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const started = performance.now();
  const child = scratch.watch(
    spawn(process.execPath, [...flagsOf(args[0]), main, ...args], {
      cwd: dataDir,
      env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compileCache, DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const memory = new MemoryWatch(child.pid ?? 0);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  memory.stop();
  return { code, seconds: (performance.now() - started) / 1000, output, memory };
}

/** Returns the reason for a failure: the last non-empty line of output. */
export function reason({ code, output }: CommandResult): string {
  const lines = output.split('\n').filter((line) => /[a-z]/i.test(line) && !/^\s+at |^Node\.js/.test(line));
  return `exit code ${code}: ${lines.at(-1)?.trim() ?? 'no output'}`;
}
