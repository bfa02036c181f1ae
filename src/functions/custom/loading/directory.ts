import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../../observe/index.ts';
import { isOfFile, type Stamp, stampOf } from './modules.ts';

/** Names of functions. No other name may become part of a path. Reference: functions.md#custom-functions. */
const functionName = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;
/** In order of precedence if several files have the same name. */
const ENDINGS = ['.ts', '.mjs', '.js'] as const;

/** A file of the directory. */
export interface FoundFile {
  /** Path in the directory. */
  readonly path: string;
  readonly stamp: Stamp;
  /** Path without symbolic links; the same as `path` if it cannot be determined. */
  readonly realPath: string;
}

/** Finds the files of functions in FUNCTIONS_DIR. */
export class FunctionDirectory {
  readonly #path: string;
  readonly #log: Logger;
  readonly #isReserved: (name: string) => boolean;
  /** Whether the directory cannot be searched; logged once. */
  #isUnsearchable = false;

  /** @param path absolute; it may be missing @param isReserved names of built-in functions */
  constructor(path: string, log: Logger, isReserved: (name: string) => boolean) {
    this.#path = path;
    this.#log = log;
    this.#isReserved = isReserved;
  }

  /** Whether a custom function may have this name. */
  isName(name: string): boolean {
    return functionName.test(name) && !this.#isReserved(name);
  }

  /**
   * Finds the file of a function. Takes a few µs.
   * @returns `null` if there is none; the error code if the directory cannot be searched. Names without a file are not remembered, because callers may
   *   request any name
   */
  locate(name: string): FoundFile | null | string {
    for (const ending of ENDINGS) {
      const path = join(this.#path, name + ending);
      const stamp = stampOf(path);
      if (stamp === '') continue;
      if (isOfFile(stamp) || isEntry(path)) {
        this.#isUnsearchable = false;
        return { path, stamp, realPath: realPathOf(path) };
      }
      if (!this.#isUnsearchable) this.#log.error({ file: path, code: stamp }, 'FUNCTIONS_DIR cannot be searched');
      this.#isUnsearchable = true;
      return stamp;
    }
    this.#isUnsearchable = false;
    return null;
  }

  /** Returns the names of the functions that have a file, and of the files that are never called because a built-in function has their name. */
  names(): { readonly callable: readonly string[]; readonly reserved: readonly string[] } {
    const names = this.#namesOfFiles();
    return { callable: names.filter((name) => !this.#isReserved(name)), reserved: names.filter(this.#isReserved) };
  }

  #namesOfFiles(): string[] {
    try {
      const found = readdirSync(this.#path).flatMap((file) =>
        ENDINGS.filter((end) => file.endsWith(end)).map((end) => file.slice(0, -end.length)),
      );
      return [...new Set(found.filter((name) => functionName.test(name)))].sort();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') this.#log.error({ err: error }, 'FUNCTIONS_DIR cannot be read');
      return [];
    }
  }
}

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
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
