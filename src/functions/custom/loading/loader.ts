import { fail } from '../../../errors/fail.ts';
import { passingFaultOfSystem } from '../../../errors/system-faults.ts';
import type { Logger } from '../../../observe/index.ts';
import { type FoundFile, FunctionDirectory } from './directory.ts';
import { type Stamp, stampOf } from './modules.ts';

/** The files of a version: its own and those that it imports from the directory, missing ones included, with their stamps. */
export type FilesOfVersion = readonly (readonly [path: string, stamp: Stamp])[];

/** What came of an attempt to load a file. */
export interface LoadOutcome<Loaded> {
  readonly files: FilesOfVersion;
  /** The loaded function, or why it cannot be loaded, made fit for the log. */
  readonly result: { readonly loaded: Loaded } | { readonly failure: Error };
}

/** A version of a file that was loaded, or failed to. */
interface Attempt extends FoundFile {
  readonly files: FilesOfVersion;
  readonly isLoaded: boolean;
}

interface LoadState<Loaded> {
  /** The last version that could be loaded. */
  loaded: Loaded | null;
  attempt: Attempt | null;
  /** While a version is loading; all callers share it. */
  loading: Promise<void> | null;
  /** Whether loading failed for a transient reason, so that the next call tries again. */
  isTransient: boolean;
}

export interface LoaderParts<Loaded> {
  /** Absolute; it may be missing. */
  readonly directory: string;
  readonly log: Logger;
  /** Names of built-in functions. */
  readonly isReserved: (name: string) => boolean;
  /** Loads the current version of a file. Never throws. */
  readonly load: (name: string, file: FoundFile) => Promise<LoadOutcome<Loaded>>;
}

/** Knows the functions of a directory, and has each loaded anew when its file, or one that it imports, has changed. */
export class FunctionLoader<Loaded> {
  readonly #parts: LoaderParts<Loaded>;
  readonly #directory: FunctionDirectory;
  readonly #states = new Map<string, LoadState<Loaded>>();

  constructor(parts: LoaderParts<Loaded>) {
    this.#parts = parts;
    this.#directory = new FunctionDirectory(parts.directory, parts.log, parts.isReserved);
  }

  /** Loads all functions once, so that failures are logged at the start. Never throws. */
  async loadAll(): Promise<void> {
    const { log, directory } = this.#parts;
    const { callable, reserved } = this.#directory.names();
    for (const name of reserved)
      log.error({ function: name }, 'the service has a function of this name itself: the file is never called');
    const count = (await this.#findAll(callable)).length;
    if (count > 0) log.info({ count, directory }, 'functions of the operator');
  }

  /**
   * Returns the function of a name, from the current version of its file, or from the last one that could be loaded.
   * @returns `null` if there is no file
   * @throws internal (500) if no version of the file could be loaded, or the directory cannot be searched; unavailable (503) if the cause is
   *   transient
   */
  async find(name: string): Promise<Loaded | null> {
    if (!this.#directory.isName(name)) return null;
    const file = this.#directory.locate(name);
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
    if (!state.loading && !isCurrent(state.attempt, file)) {
      const loading = this.#load(name, file, state).finally(() => {
        state.loading = null;
      });
      state.loading = loading;
    }
    if (state.loading) await state.loading;
    return state.loaded ?? fail(state.isTransient ? 'unavailable' : 'internal');
  }

  /** Returns all functions that can be called, by name. Faults of single files are logged as for calls. */
  async all(): Promise<Loaded[]> {
    return this.#findAll(this.#directory.names().callable);
  }

  /** Adds files that the loaded version of a function has imported while it ran. */
  noteFiles(name: string, files: FilesOfVersion): void {
    const state = this.#states.get(name);
    if (!state?.attempt?.isLoaded) return;
    // Of known files the version stays the one that was loaded.
    state.attempt = { ...state.attempt, files: [...new Map([...files, ...state.attempt.files])] };
  }

  /** Whether the version in service is an earlier one than that of the file, which cannot be loaded. */
  isBehind(name: string): boolean {
    const state = this.#states.get(name);
    return Boolean(state?.loaded) && state?.attempt?.isLoaded !== true;
  }

  async #findAll(names: readonly string[]): Promise<Loaded[]> {
    const found = await Promise.all(names.map((name) => this.find(name).catch(() => null)));
    return found.filter((loaded) => loaded !== null);
  }

  /** Never throws. */
  async #load(name: string, file: FoundFile, state: LoadState<Loaded>): Promise<void> {
    const { log, load } = this.#parts;
    const { files, result } = await load(name, file);
    const wasTransient = state.isTransient;
    state.isTransient = false;
    if ('loaded' in result) {
      if (state.loaded !== null) log.info({ function: name }, 'a function was loaded anew');
      state.loaded = result.loaded;
      state.attempt = { ...file, files, isLoaded: true };
      return;
    }
    const { failure } = result;
    state.isTransient = passingFaultOfSystem(failure) !== null;
    state.attempt = state.isTransient ? null : { ...file, files, isLoaded: false };
    if (state.isTransient && wasTransient) return;
    const served = state.loaded ? 'the version before stays in service' : 'it cannot be called';
    log.error({ err: failure, file: file.path }, `a function cannot be loaded: ${served}${hintFor(failure)}`);
  }
}

const isTransient = (code: string): boolean => passingFaultOfSystem({ code }) !== null;

function isCurrent(attempt: Attempt | null, { path, stamp, realPath }: FoundFile): boolean {
  if (attempt?.path !== path || attempt.stamp !== stamp || attempt.realPath !== realPath) return false;
  return attempt.files.every(([at, was]) => stampOf(at) === was);
}

function hintFor(error: Error): string {
  if (error.name !== 'SyntaxError') return '';
  const isTypes = 'code' in error && error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
  return isTypes
    ? '; types are taken out of TypeScript, nothing is compiled: no enum, namespace or parameter property'
    : '; `node_modules/.bin/node --check FILE` of the service tells where';
}
