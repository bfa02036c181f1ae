/** Commands of the program, one after the other in a process that stays: nearly all that a command takes is to load the program. */
import { type ChildProcess, fork } from 'node:child_process';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Run } from '../../edge/process.ts';
import type { Order } from './worker.ts';

let worker: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** As `runToEnd` (edge/process.ts), where it is nothing to the test that the command is a process of its own. */
export function runCommand(args: readonly string[], env: Record<string, string>, cwd: string): Promise<Run> {
  const run = last.then(() => ask({ args, env: { PATH: process.env.PATH ?? '', ...env }, cwd }));
  last = run.catch(() => {});
  return run;
}

function start(): ChildProcess {
  const file = fileURLToPath(new URL('./worker.ts', import.meta.url));
  return fork(file, { env: { PATH: process.env.PATH ?? '' }, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function ask(order: Order): Promise<Run> {
  if (!worker?.connected) worker = start();
  const asked = worker;
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`the process of commands ended with ${code} at: ${order.args.join(' ')}`));
    asked.once('exit', ended);
    asked.once('message', (run: Run) => {
      asked.off('exit', ended);
      resolve(run);
    });
    asked.send(order);
  });
}

after(() => {
  if (worker?.connected) worker.disconnect();
});
