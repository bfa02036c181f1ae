/** Runs commands of the program one after the other in a process that stays: loading the program takes most of the time of a command. */
import { type ChildProcess, fork } from 'node:child_process';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Run } from '../../edge/process.ts';
import { compileCache } from '../../support/service.ts';
import type { Order } from './worker.ts';

let worker: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Like `runToEnd` (edge/process.ts), for tests that do not depend on the command being a process by itself. */
export function runCommand(args: readonly string[], env: Record<string, string>, cwd: string): Promise<Run> {
  const run = last.then(() => execute({ args, env: { PATH: process.env.PATH ?? '', ...env }, cwd }));
  last = run.catch(() => {});
  return run;
}

function start(): ChildProcess {
  const file = fileURLToPath(new URL('./worker.ts', import.meta.url));
  const env = { PATH: process.env.PATH ?? '', ...compileCache };
  return fork(file, { env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function execute(order: Order): Promise<Run> {
  if (!worker?.connected) worker = start();
  const current = worker;
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`the process of commands ended with ${code} at: ${order.args.join(' ')}`));
    current.once('exit', ended);
    current.once('message', (run: Run) => {
      current.off('exit', ended);
      resolve(run);
    });
    current.send(order);
  });
}

after(() => {
  if (worker?.connected) worker.disconnect();
});
