/** Loads the functions of a directory on a thread of its own, whose end also ends what their files have started. */
import { parentPort, workerData } from 'node:worker_threads';
import type { JsonObject } from '../../kernel/json.ts';
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
  /** Those that can be called, by name. */
  readonly callable: readonly CallableByName[];
}

/** A function that can be called. */
export interface CallableByName {
  readonly name: string;
  /** Application ids of the systems that may call it; `null` for all. */
  readonly systems: readonly string[] | null;
  /** JSON Schema of its input. */
  readonly input?: JsonObject;
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
const loader = new FunctionLoader({ directory, timeLimit, log, isReserved: (name) => reserved.includes(name) });
await loader.loadAll();
const callable = (await loader.all()).map(({ name, systems, inputSchema }) => ({
  name,
  systems: systems && [...systems],
  ...(inputSchema && { input: inputSchema }),
}));
parentPort?.postMessage({ loaded, broken, callable } satisfies LoadedFunctions);
