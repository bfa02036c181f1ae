/** Runs the program as a command again and again; its modules are loaded once. */
import { run as runProgram } from '../../../src/run.ts';
import type { Run } from '../../edge/process.ts';
import { serveOrders } from './serve.ts';

/** A command and where it runs. Of Node's options in its environment only `--import` takes effect. */
export interface Command {
  args: readonly string[];
  env: Record<string, string>;
  cwd: string;
}

const { Date: realDate } = globalThis;
const run: Run = { code: null, stdout: '', stderr: '' };

for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (text: string | Uint8Array, ...rest: unknown[]) => {
    run[name] += text.toString();
    const written = rest.at(-1);
    if (typeof written === 'function') written();
    return true;
  };

let count = 0;
let last: Promise<unknown> = Promise.resolve();

async function execute({ args, env: { NODE_OPTIONS = '', ...env }, cwd }: Command): Promise<string> {
  // Such a module sets the clock of a process (support/users.ts: clockAhead).
  const preload = /--import=(\S+)/.exec(NODE_OPTIONS)?.[1];
  if (preload !== undefined) await import(`${preload}#${count++}`);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  Object.assign(run, { stdout: '', stderr: '' });
  const code = await runProgram(args);
  globalThis.Date = realDate;
  process.chdir('/');
  return JSON.stringify({ ...run, code } satisfies Run);
}

serveOrders((_method, _path, body) => {
  // They share the environment and the output of the process.
  const done = last.then(() => execute(JSON.parse(body)));
  last = done.catch(() => {});
  return done;
});
