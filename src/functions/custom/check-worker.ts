/** Loads the functions of a directory on a thread of its own, whose end also ends what their files have started. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Logger } from '../../observe/index.ts';
import { FunctionLoader } from './loader.ts';
import { catchUnhandledErrors } from './unhandled-errors.ts';

/** A file that cannot be loaded. */
export interface BrokenFunction {
  readonly file: string;
  readonly why: string;
  /** Stack of the error. */
  readonly stack: string;
}

/** Result of the thread. */
export interface LoadedFunctions {
  readonly loaded: number;
  readonly broken: readonly BrokenFunction[];
}

/** What the thread receives. */
export interface CheckSetup {
  readonly directory: string;
  readonly timeLimit: number;
  /** Names of built-in functions. */
  readonly reserved: readonly string[];
}

const { directory, timeLimit, reserved } = workerData as CheckSetup;
const broken: BrokenFunction[] = [];
let loaded = 0;
const log = {
  info: ({ count }: { count?: number }) => (loaded = count ?? loaded),
  warn() {},
  error({ file, function: name, err }: { file?: string; function?: string; err?: Error }, message: string) {
    broken.push({ file: file ?? name ?? directory, why: err?.message ?? message, stack: err?.stack ?? '' });
  },
} as unknown as Logger;
catchUnhandledErrors(log, () => {});
await new FunctionLoader({ directory, timeLimit, log, isReserved: (name) => reserved.includes(name) }).loadAll();
parentPort?.postMessage({ loaded, broken } satisfies LoadedFunctions);
