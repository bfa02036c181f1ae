import { setTimeout as wait } from 'node:timers/promises';
import { passingFaultOfSystem } from '../../../errors/system-faults.ts';
import { appIdPattern } from '../../../kernel/credentials.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RunFunction } from '../api/definition.ts';
import { type FoundFile, realPathOf } from './directory.ts';
import { failureOf } from './failure.ts';
import { type InputCheck, inputCheck } from './input.ts';
import { inputSchemaOf } from './input-schema.ts';
import type { FilesOfVersion, LoadOutcome } from './loader.ts';
import { Modules } from './modules.ts';
import { asFunction } from './unhandled-errors.ts';

/** A loaded function, ready to run. */
export interface LoadedFunction {
  readonly name: string;
  readonly check: InputCheck;
  /** Application ids of the systems that may call it; `null` for all. */
  readonly systems: ReadonlySet<string> | null;
  readonly run: RunFunction<never>;
  /** JSON Schema of its input, for descriptions; left out: any input. */
  readonly inputSchema?: JsonObject | undefined;
}

/** Imports the files of functions, which runs their code, on the thread that will run them. */
export class FunctionImporter {
  readonly #directory: string;
  readonly #timeLimit: number;
  readonly #modules: Modules;
  readonly #loaded = new Map<string, { readonly loaded: LoadedFunction; readonly realPath: string }>();

  /**
   * @param directory FUNCTIONS_DIR, absolute @param timeLimit of loading a file, in milliseconds
   * @param onImport called with each file that a function imports, before its code runs
   */
  constructor(directory: string, timeLimit: number, onImport?: (path: string, stamp: string) => void) {
    this.#directory = directory;
    this.#timeLimit = timeLimit;
    this.#modules = new Modules(onImport);
  }

  /** Returns the function of a name from the last version that could be loaded here. */
  loaded(name: string): LoadedFunction | undefined {
    return this.#loaded.get(name)?.loaded;
  }

  /** Returns the names of the loaded functions, with the files that they have imported up to now. */
  *files(): Generator<[name: string, files: FilesOfVersion]> {
    for (const [name, { realPath }] of this.#loaded) yield [name, this.#modules.filesOf(realPath)];
  }

  /** Loads the current version of a file. Never throws. */
  async load(name: string, { realPath }: FoundFile): Promise<LoadOutcome<LoadedFunction>> {
    const modules = this.#modules;
    modules.watch(realPathOf(this.#directory));
    const address = modules.address(realPath);
    try {
      // Getters of the exported object run code of the function.
      const defined = asFunction({ function: name }, async () => definedIn(name, await import(address)));
      const loaded = await withTimeout(defined, this.#timeLimit);
      this.#loaded.set(name, { loaded, realPath });
      return { files: modules.filesOf(realPath), result: { loaded } };
    } catch (error) {
      const { logged } = failureOf(error);
      const files = modules.filesOf(realPath);
      // Node caches failed imports; a new version number makes it retry.
      if (passingFaultOfSystem(logged)) modules.renew(realPath);
      return { files, result: { failure: logged } };
    }
  }
}

/** @throws if the default export is not a function or definition, its input not a schema, or its systems not a list */
async function definedIn(name: string, { default: exported }: { default?: unknown }): Promise<LoadedFunction> {
  if (typeof exported === 'function')
    return { name, check: await inputCheck(undefined), systems: null, run: exported as RunFunction<never> };
  const { input, systems, run } = (exported ?? {}) as { input?: unknown; systems?: unknown; run?: unknown };
  if (typeof run !== 'function') throw new Error('the default export should be a function, or an object with a function `run`');
  const check = await inputCheck(input);
  const inputSchema = await inputSchemaOf(input);
  return { name, check, systems: systemsOf(systems), run: (context) => run.call(exported, context), inputSchema };
}

/** @throws if it is not a list of application ids, so that a mistake does not open a restricted function to all systems */
function systemsOf(systems: unknown): ReadonlySet<string> | null {
  if (systems === undefined) return null;
  if (!Array.isArray(systems) || !systems.every((appId) => typeof appId === 'string' && appIdPattern.test(appId)))
    throw new Error('`systems` should be an array of application ids');
  return new Set(systems);
}

/** @throws if a module has not been loaded in time: a top-level await may never end */
function withTimeout<T>(loading: Promise<T>, timeLimit: number): Promise<T> {
  const timer = new AbortController();
  const timeout = wait(timeLimit, undefined, { signal: timer.signal }).then(() => {
    throw loadingTooLong(timeLimit);
  });
  return Promise.race([loading, timeout]).finally(() => {
    timer.abort();
    timeout.catch(() => {});
  });
}

/** Returns the reason why a file that is still loading cannot be loaded. @param timeLimit milliseconds */
export const loadingTooLong = (timeLimit: number): Error =>
  Object.assign(new Error(`it took more than ${timeLimit} ms`), { name: LOADING_TOO_LONG });

/** Name of the error of a file that is not loaded in time. */
export const LOADING_TOO_LONG = 'LoadingTooLong';
