import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fail } from '../../errors/fail.ts';
import { passingFaultOfSystem } from '../../errors/system-faults.ts';
import { appIdPattern } from '../../kernel/credentials.ts';
import type { Logger } from '../../observe/index.ts';
import type { RunFunction } from './definition.ts';
import { failureOf } from './failure.ts';
import { type InputCheck, inputCheck } from './input.ts';
import { isOfFile, Modules, type Stamp, stampOf } from './modules.ts';
import { asFunction } from './unhandled-errors.ts';

/** docs/decisions.md "Functions and forms": no other name becomes part of a path. */
const functionName = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;
/** Of several files with one name the first counts. */
const ENDINGS = ['.ts', '.mjs', '.js'] as const;

/** A function as its file says, ready to be run. */
export interface LoadedFunction {
  readonly name: string;
  readonly check: InputCheck;
  /** Application ids of those that may call it; `null` for all. */
  readonly systems: ReadonlySet<string> | null;
  readonly run: RunFunction<never>;
}

/** A file as it was found. */
interface Found {
  /** As it lies in the directory. */
  readonly path: string;
  readonly stamp: Stamp;
  /** What it leads to: the file, or the directory, may be a symbolic link. The same as `path` where that cannot be said. */
  readonly realPath: string;
}

/** What became of a version of a file. */
interface Attempt extends Found {
  readonly version: number;
}

interface Known {
  /** The last version that could be loaded. */
  loaded: LoadedFunction | null;
  attempt: Attempt | null;
  /** While a version is loaded: all callers wait for the same. */
  loading: Promise<void> | null;
  /** Whether what kept its file from being loaded is likely to pass: it is tried again at the next call. */
  isPassing: boolean;
}

export interface LoaderParts {
  /** Absolute; it may be missing. */
  readonly directory: string;
  /** How long the loading of a file may take, in milliseconds. */
  readonly timeLimit: number;
  readonly log: Logger;
  /** Names of functions of the service's own. */
  readonly isReserved: (name: string) => boolean;
}

/** The functions of a directory, as their files are at each call. */
export class FunctionLoader {
  readonly #parts: LoaderParts;
  readonly #known = new Map<string, Known>();
  #modules: Modules | null = null;
  /** Whether the directory cannot be searched; told once. */
  #isShut = false;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  /** Loads all functions once, so that what cannot be loaded is told at the start. Never throws. */
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
   * The function of a name, as its file is now; where that cannot be loaded, as it was before.
   * @returns `null` where there is none
   * @throws internal (500) where there is a file, and no version of it could be loaded; where the directory cannot be searched; unavailable
   *   (503) where that is likely to pass
   */
  async find(name: string): Promise<LoadedFunction | null> {
    if (!functionName.test(name) || this.#parts.isReserved(name)) return null;
    const file = this.#locate(name);
    if (typeof file === 'string') return this.#known.get(name)?.loaded ?? fail(isPassing(file) ? 'unavailable' : 'internal');
    if (!file) {
      this.#known.delete(name);
      return null;
    }
    let known = this.#known.get(name);
    if (!known) {
      known = { loaded: null, attempt: null, loading: null, isPassing: false };
      this.#known.set(name, known);
    }
    if (!known.loading && !this.#isCurrent(known.attempt, file)) {
      const loading = this.#load(name, file, known).finally(() => {
        known.loading = null;
      });
      known.loading = loading;
    }
    if (known.loading) await known.loading;
    return known.loaded ?? fail(known.isPassing ? 'unavailable' : 'internal');
  }

  /** @returns the code of the error where the directory does not tell: anybody asks for any name, so that none of them is remembered */
  #locate(name: string): Found | null | string {
    for (const ending of ENDINGS) {
      const path = join(this.#parts.directory, name + ending);
      const stamp = stampOf(path);
      if (stamp === '') continue;
      if (isOfFile(stamp) || isEntry(path)) {
        this.#isShut = false;
        return { path, stamp, realPath: realPathOf(path) };
      }
      if (!this.#isShut) this.#parts.log.error({ file: path, code: stamp }, 'FUNCTIONS_DIR cannot be searched');
      this.#isShut = true;
      return stamp;
    }
    this.#isShut = false;
    return null;
  }

  #isCurrent(attempt: Attempt | null, { path, stamp, realPath }: Found): boolean {
    if (attempt?.path !== path || attempt.stamp !== stamp || attempt.realPath !== realPath) return false;
    return this.#modules?.currentVersion(realPath) === attempt.version;
  }

  /** Never throws. */
  async #load(name: string, file: Found, known: Known): Promise<void> {
    const { directory, timeLimit, log } = this.#parts;
    const isFirst = known.loaded === null;
    const wasPassing = known.isPassing;
    known.isPassing = false;
    try {
      this.#modules ??= new Modules();
      this.#modules.watch(realPathOf(directory));
      const address = this.#modules.address(file.realPath);
      known.attempt = { ...file, version: this.#modules.currentVersion(file.realPath) };
      // Its getters are the function's code as well.
      const defined = asFunction({ function: name }, async () => definedIn(name, await import(address)));
      known.loaded = await inTime(defined, timeLimit);
      if (!isFirst) log.info({ function: name }, 'a function was loaded anew');
    } catch (error) {
      const { logged } = failureOf(error);
      if (passingFaultOfSystem(logged)) {
        known.isPassing = true;
        known.attempt = null;
        // Node remembers what it could not load.
        this.#modules?.renew(file.realPath);
        if (wasPassing) return;
      }
      const served = known.loaded ? 'the version before stays in service' : 'it cannot be called';
      log.error({ err: logged, file: file.path }, `a function cannot be loaded: ${served}${hintFor(logged)}`);
    }
  }

  /** Names of the functions that the directory has now. */
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

const isPassing = (code: string): boolean => passingFaultOfSystem({ code }) !== null;

/** Whether a directory has an entry, whatever becomes of it. */
function isEntry(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The path without symbolic links; as it is where that cannot be said. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** @throws where a module's default export is no function, its input no schema, or its systems no list */
async function definedIn(name: string, { default: exported }: { default?: unknown }): Promise<LoadedFunction> {
  if (typeof exported === 'function')
    return { name, check: await inputCheck(undefined), systems: null, run: exported as RunFunction<never> };
  const { input, systems, run } = (exported ?? {}) as { input?: unknown; systems?: unknown; run?: unknown };
  if (typeof run !== 'function') throw new Error('the default export should be a function, or an object with a function `run`');
  return { name, check: await inputCheck(input), systems: systemsOf(systems), run: (context) => run.call(exported, context) };
}

/** @throws where it is no list of application ids: a function that is for some must not be for all by a slip of the pen */
function systemsOf(systems: unknown): ReadonlySet<string> | null {
  if (systems === undefined) return null;
  if (!Array.isArray(systems) || !systems.every((appId) => typeof appId === 'string' && appIdPattern.test(appId)))
    throw new Error('`systems` should be an array of application ids');
  return new Set(systems);
}

/** @throws where a module has not been loaded in time: a top-level await may wait for ever */
function inTime<T>(loading: Promise<T>, timeLimit: number): Promise<T> {
  const timer = new AbortController();
  const late = wait(timeLimit, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`it took more than ${timeLimit} ms`);
  });
  return Promise.race([loading, late]).finally(() => {
    timer.abort();
    late.catch(() => {});
  });
}

function hintFor(error: Error): string {
  if (error.name !== 'SyntaxError') return '';
  const isTypes = 'code' in error && error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
  return isTypes
    ? '; types are taken out of TypeScript, nothing is compiled: no enum, namespace or parameter property'
    : '; `node_modules/.bin/node --check FILE` of the service tells where';
}
