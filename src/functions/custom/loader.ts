import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fail } from '../../errors/fail.ts';
import { passingFaultOfSystem } from '../../errors/system-faults.ts';
import { appIdPattern } from '../../kernel/credentials.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Logger } from '../../observe/index.ts';
import type { RunFunction } from './definition.ts';
import { failureOf } from './failure.ts';
import { type InputCheck, inputCheck } from './input.ts';
import { inputSchemaOf } from './input-schema.ts';
import { isOfFile, Modules, type Stamp, stampOf } from './modules.ts';
import { asFunction } from './unhandled-errors.ts';

/** Names of functions. No other name may become part of a path. Reference: functions.md#custom-functions. */
const functionName = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;
/** In order of precedence if several files have the same name. */
const ENDINGS = ['.ts', '.mjs', '.js'] as const;

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

/** A file of the directory. */
interface Found {
  /** Path in the directory. */
  readonly path: string;
  readonly stamp: Stamp;
  /** Path without symbolic links; the same as `path` if it cannot be determined. */
  readonly realPath: string;
}

/** A version of a file that was loaded, or failed to. */
interface Attempt extends Found {
  readonly version: number;
}

interface LoadState {
  /** The last version that could be loaded. */
  loaded: LoadedFunction | null;
  attempt: Attempt | null;
  /** While a version is loading; all callers share it. */
  loading: Promise<void> | null;
  /** Whether loading failed for a transient reason, so that the next call tries again. */
  isTransient: boolean;
}

export interface LoaderParts {
  /** Absolute; it may be missing. */
  readonly directory: string;
  /** Time limit for loading a file, in milliseconds. */
  readonly timeLimit: number;
  readonly log: Logger;
  /** Names of built-in functions. */
  readonly isReserved: (name: string) => boolean;
}

/** Loads the functions of a directory, and reloads each when its file has changed. */
export class FunctionLoader {
  readonly #parts: LoaderParts;
  readonly #states = new Map<string, LoadState>();
  #modules: Modules | null = null;
  /** Whether the directory cannot be searched; logged once. */
  #isUnsearchable = false;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  /** Loads all functions once, so that failures are logged at the start. Never throws. */
  async loadAll(): Promise<void> {
    const { log, isReserved } = this.#parts;
    let count = 0;
    const load = async (name: string) => {
      if (await this.find(name).catch(() => null)) count++;
    };
    const names = this.#names();
    for (const name of names.filter(isReserved))
      log.error({ function: name }, 'the service has a function of this name itself: the file is never called');
    await Promise.all(names.filter((name) => !isReserved(name)).map(load));
    if (count > 0) log.info({ count, directory: this.#parts.directory }, 'functions of the operator');
  }

  /**
   * Returns the function of a name, from the current version of its file, or from the last one that could be loaded.
   * @returns `null` if there is no file
   * @throws internal (500) if no version of the file could be loaded, or the directory cannot be searched; unavailable (503) if the cause is
   *   transient
   */
  async find(name: string): Promise<LoadedFunction | null> {
    if (!functionName.test(name) || this.#parts.isReserved(name)) return null;
    const file = this.#locate(name);
    if (typeof file === 'string') return this.#states.get(name)?.loaded ?? fail(isTransient(file) ? 'unavailable' : 'internal');
    if (!file) {
      this.#states.delete(name);
      return null;
    }
    let state = this.#states.get(name);
    if (!state) {
      state = { loaded: null, attempt: null, loading: null, isTransient: false };
      this.#states.set(name, state);
    }
    if (!state.loading && !this.#isCurrent(state.attempt, file)) {
      const loading = this.#load(name, file, state).finally(() => {
        state.loading = null;
      });
      state.loading = loading;
    }
    if (state.loading) await state.loading;
    return state.loaded ?? fail(state.isTransient ? 'unavailable' : 'internal');
  }

  /** Returns all functions that can be called, by name. Faults of single files are logged as for calls. */
  async all(): Promise<LoadedFunction[]> {
    const { isReserved } = this.#parts;
    const names = this.#names().filter((name) => !isReserved(name));
    const found = await Promise.all(names.map((name) => this.find(name).catch(() => null)));
    return found.filter((loaded) => loaded !== null);
  }

  /** @returns the error code if the directory cannot be searched. Names without a file are not remembered, because callers may request any name */
  #locate(name: string): Found | null | string {
    for (const ending of ENDINGS) {
      const path = join(this.#parts.directory, name + ending);
      const stamp = stampOf(path);
      if (stamp === '') continue;
      if (isOfFile(stamp) || isEntry(path)) {
        this.#isUnsearchable = false;
        return { path, stamp, realPath: realPathOf(path) };
      }
      if (!this.#isUnsearchable) this.#parts.log.error({ file: path, code: stamp }, 'FUNCTIONS_DIR cannot be searched');
      this.#isUnsearchable = true;
      return stamp;
    }
    this.#isUnsearchable = false;
    return null;
  }

  #isCurrent(attempt: Attempt | null, { path, stamp, realPath }: Found): boolean {
    if (attempt?.path !== path || attempt.stamp !== stamp || attempt.realPath !== realPath) return false;
    return this.#modules?.currentVersion(realPath) === attempt.version;
  }

  /** Never throws. */
  async #load(name: string, file: Found, state: LoadState): Promise<void> {
    const { directory, timeLimit, log } = this.#parts;
    const isFirst = state.loaded === null;
    const wasTransient = state.isTransient;
    state.isTransient = false;
    try {
      this.#modules ??= new Modules();
      this.#modules.watch(realPathOf(directory));
      const address = this.#modules.address(file.realPath);
      state.attempt = { ...file, version: this.#modules.currentVersion(file.realPath) };
      // Getters of the exported object run code of the function.
      const defined = asFunction({ function: name }, async () => definedIn(name, await import(address)));
      state.loaded = await withTimeout(defined, timeLimit);
      if (!isFirst) log.info({ function: name }, 'a function was loaded anew');
    } catch (error) {
      const { logged } = failureOf(error);
      if (passingFaultOfSystem(logged)) {
        state.isTransient = true;
        state.attempt = null;
        // Node caches failed imports; a new version number makes it retry.
        this.#modules?.renew(file.realPath);
        if (wasTransient) return;
      }
      const served = state.loaded ? 'the version before stays in service' : 'it cannot be called';
      log.error({ err: logged, file: file.path }, `a function cannot be loaded: ${served}${hintFor(logged)}`);
    }
  }

  /** Returns the function names of the files in the directory. */
  #names(): string[] {
    const { directory, log } = this.#parts;
    try {
      const found = readdirSync(directory).flatMap((file) =>
        ENDINGS.filter((end) => file.endsWith(end)).map((end) => file.slice(0, -end.length)),
      );
      return [...new Set(found.filter((name) => functionName.test(name)))].sort();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') log.error({ err: error }, 'FUNCTIONS_DIR cannot be read');
      return [];
    }
  }
}

const isTransient = (code: string): boolean => passingFaultOfSystem({ code }) !== null;

/** Whether a directory entry exists, even if it cannot be read. */
function isEntry(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns the path without symbolic links; unchanged if it cannot be determined. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
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
    throw new Error(`it took more than ${timeLimit} ms`);
  });
  return Promise.race([loading, timeout]).finally(() => {
    timer.abort();
    timeout.catch(() => {});
  });
}

function hintFor(error: Error): string {
  if (error.name !== 'SyntaxError') return '';
  const isTypes = 'code' in error && error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
  return isTypes
    ? '; types are taken out of TypeScript, nothing is compiled: no enum, namespace or parameter property'
    : '; `node_modules/.bin/node --check FILE` of the service tells where';
}
