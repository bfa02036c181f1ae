/** Runs the program as a command again and again: its main module anew each time, what that imports once. */
import type { Run } from '../../edge/process.ts';

/** A command and where it runs. Of Node's options in its environment only `--import` is looked at. */
export interface Order {
  args: readonly string[];
  env: Record<string, string>;
  cwd: string;
}

const main = new URL('../../../src/main.ts', import.meta.url).href;
const { Date: now } = globalThis;
const run: Run = { code: null, stdout: '', stderr: '' };

for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (text: string | Uint8Array) => {
    run[name] += text.toString();
    return true;
  };

let count = 0;
process.on('message', async ({ args, env: { NODE_OPTIONS = '', ...env }, cwd }: Order) => {
  // What sets the clock of a process (support/users.ts: clockAhead).
  const preload = /--import=(\S+)/.exec(NODE_OPTIONS)?.[1];
  if (preload !== undefined) await import(`${preload}#${count}`);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv.splice(2, Infinity, ...args);
  process.exitCode = undefined;
  Object.assign(run, { stdout: '', stderr: '' });
  await import(`${main}?${count++}`);
  globalThis.Date = now;
  process.send?.({ ...run, code: process.exitCode ?? 0 });
});
process.on('disconnect', () => process.exit());
