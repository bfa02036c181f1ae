import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BrokenFunction, CheckSetup, LoadedFunctions } from './custom/check-worker.ts';
import { forms } from './forms/index.ts';
import type { CallableFunction } from './functions.ts';

const workerFile = new URL('./custom/check-worker.ts', import.meta.url);

/**
 * Loads the custom functions, which runs the code of their files, and forgets them.
 * @param directory FUNCTIONS_DIR; it may be missing
 * @param timeLimit for each file, in milliseconds
 * @param signal ends it
 * @returns the number of those that can be called, and a line `FILE:LINE reason` for each that cannot
 */
export async function checkFunctions(
  directory: string,
  timeLimit: number,
  signal: AbortSignal,
): Promise<{ loaded: number; broken: readonly string[] }> {
  const { loaded, broken } = await loadOnThread(directory, timeLimit, signal);
  return { loaded, broken: broken.map(inOneLine) };
}

/**
 * Returns the custom functions that a system may call, by name, for commands. Those that cannot be loaded are left out.
 * @param directory FUNCTIONS_DIR; it may be missing
 * @param timeLimit for each file, in milliseconds
 */
export async function callableFunctions(directory: string, timeLimit: number, appId: string): Promise<CallableFunction[]> {
  const { callable } = await loadOnThread(directory, timeLimit);
  const ofSystem = callable.filter(({ systems }) => systems === null || systems.includes(appId));
  return ofSystem.map(({ name, input }) => ({ name, ...(input && { input }) }));
}

/** Loads functions on a thread, whose end also ends what their files have started, such as timers. */
async function loadOnThread(directory: string, timeLimit: number, signal?: AbortSignal): Promise<LoadedFunctions> {
  const setup: CheckSetup = { directory, timeLimit, reserved: [...forms.keys()] };
  const worker = new Worker(workerFile, { workerData: setup, stdout: true, stderr: true });
  try {
    return await new Promise<LoadedFunctions>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('a file ended the thread that loads them')));
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  } finally {
    await worker.terminate();
  }
}

function inOneLine({ file, why, stack }: BrokenFunction): string {
  const name = basename(file);
  const at = stack.indexOf(`${name}`);
  const line = at < 0 ? undefined : (/^[^\s:]*:(\d+)/.exec(stack.slice(at + name.length - 0))?.[1] ?? undefined);
  const [reason = ''] = why.split('\n', 1);
  return `${name}${line === undefined ? '' : `:${line}`} ${reason}`;
}
