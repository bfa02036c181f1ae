import { basename } from 'node:path';
import type { Logger } from '../observe/index.ts';
import { type FoundFunction, InstalledFunctions } from './custom/index.ts';
import { forms } from './forms/index.ts';
import type { CallableFunction } from './functions.ts';

/** Where functions are, and within which limits they are loaded. */
export interface FunctionFiles {
  /** FUNCTIONS_DIR, absolute; it may be missing. */
  readonly directory: string;
  /** For each file, in milliseconds. */
  readonly timeLimit: number;
  /** In MiB. */
  readonly memoryMb: number;
  /** The environment variables of functions. */
  readonly env: Readonly<Record<string, string>>;
}

/** A file that cannot be loaded. */
interface BrokenFunction {
  readonly file: string;
  readonly why: string;
  /** Stack of the error. */
  readonly stack: string;
}

/**
 * Loads the custom functions, which runs the code of their files, and forgets them.
 * @param signal ends it
 * @returns the number of those that can be called, and a line `FILE:LINE reason` for each that cannot
 */
export async function checkFunctions(
  files: FunctionFiles,
  signal: AbortSignal,
): Promise<{ loaded: number; broken: readonly string[] }> {
  const { loaded, broken } = await loadOnce(files, signal);
  return { loaded: loaded.length, broken: broken.map(inOneLine) };
}

/** Returns the custom functions that a system may call, by name, for commands. Those that cannot be loaded are left out. */
export async function callableFunctions(files: FunctionFiles, appId: string): Promise<CallableFunction[]> {
  const { loaded } = await loadOnce(files);
  return loaded.filter(({ systems }) => systems === null || systems.has(appId)).map(asCallable);
}

/** Returns a function as its callers see it. */
export const asCallable = ({ name, inputSchema }: FoundFunction): CallableFunction => ({
  name,
  ...(inputSchema && { input: inputSchema }),
});

/** Loads functions on threads, whose end also ends what their files have started, such as timers. */
async function loadOnce(
  files: FunctionFiles,
  signal?: AbortSignal,
): Promise<{ loaded: readonly FoundFunction[]; broken: readonly BrokenFunction[] }> {
  const broken: BrokenFunction[] = [];
  const log = {
    info() {},
    warn() {},
    error({ file, function: name, err }: { file?: string; function?: string; err?: Error }, message: string) {
      broken.push({ file: file ?? name ?? files.directory, why: err?.message ?? message, stack: err?.stack ?? '' });
    },
  } as unknown as Logger;
  const functions = new InstalledFunctions({ ...files, log, isReserved: (name) => forms.has(name) });
  const ended = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => ended.reject(signal.reason));
  try {
    await Promise.race([functions.load(), ended.promise]);
    return { loaded: await functions.all(), broken };
  } finally {
    await functions.close();
  }
}

function inOneLine({ file, why, stack }: BrokenFunction): string {
  const name = basename(file);
  const at = stack.indexOf(`${name}`);
  const line = at < 0 ? undefined : (/^[^\s:]*:(\d+)/.exec(stack.slice(at + name.length - 0))?.[1] ?? undefined);
  const [reason = ''] = why.split('\n', 1);
  return `${name}${line === undefined ? '' : `:${line}`} ${reason}`;
}
