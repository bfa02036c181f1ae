import { statSync } from 'node:fs';
import { createRequire, type RegisterHooksOptions, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What the package exports; the TypeScript sources in a clone, the built JavaScript in the published package. */
const ownExports = new URL('../../index.ts', import.meta.url).href;
const ownFolder = new URL('.', ownExports).href;
const ownName = 'record-data-service';
/** Marks a module's address with its version, so that Node takes another version for another module. */
const VERSION = '?version=';

/** What tells that a file is not what it was; empty where there is none, the error's code where it cannot be looked at. */
export type Stamp = string;

/** A few µs. Never throws. */
export function stampOf(path: string): Stamp {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : '';
  } catch (error) {
    // A loop of symbolic links, a folder that may not be searched.
    return String((error as { code?: unknown }).code);
  }
}

/** Whether a stamp is of a file that could be looked at. */
export const isOfFile = (stamp: Stamp): boolean => stamp.includes(' ');

interface Module {
  stamp: Stamp;
  /** Another number whenever the file, or one that it imports, has changed. */
  version: number;
  /** What it imports of the same directory, files that are missing too. */
  readonly imports: Set<string>;
}

/**
 * The modules of a directory by their path: which versions are in use, and who imports whom. A module's new version is loaded anew
 * with all that import it; what has not changed stays as it is. Old versions stay in memory, since Node forgets no module.
 */
export class Modules {
  readonly #folders = new Set<string>();
  readonly #modules = new Map<string, Module>();
  #version = 0;

  constructor() {
    tracked.add(this);
    if (tracked.size === 1) registerHooks(hooks);
  }

  /**
   * Has what is imported of a directory looked at. FUNCTIONS_DIR may be a symbolic link that goes from release to release.
   * @param directory absolute, without symbolic links
   */
  watch(directory: string): void {
    this.#folders.add(`${pathToFileURL(directory).href}/`);
  }

  /** The address to import a file by, as it is now. @param path absolute, without symbolic links */
  address(path: string): string {
    return `${pathToFileURL(path).href}${VERSION}${this.#upToDate(path).version}`;
  }

  /** The version of a module, after a look at its file and at all that it imports. */
  currentVersion(path: string): number {
    const seen = new Set<string>();
    const look = (at: string): void => {
      if (seen.has(at)) return;
      seen.add(at);
      for (const imported of this.#upToDate(at).imports) look(imported);
    };
    look(path);
    return this.#upToDate(path).version;
  }

  /** Whether the module at an address is one of these; a function may be a symbolic link to a file elsewhere. */
  has(url: string): boolean {
    return url.startsWith('file:') && this.#modules.has(pathOf(url));
  }

  /** Notes an import of a module. @returns the address to load, `null` where it lies elsewhere */
  noteImport(by: string, url: string, isRequired: boolean): string | null {
    if (url.includes('/node_modules/') || url.startsWith(ownFolder)) return null;
    if (!this.#folders.values().some((folder) => url.startsWith(folder))) return null;
    const path = pathOf(url);
    const { version } = this.#upToDate(path);
    this.#modules.get(pathOf(by))?.imports.add(path);
    // `require` knows modules by their path; it forgets those that have changed.
    return isRequired ? url : `${url.split('?', 1)[0]}${VERSION}${version}`;
  }

  /** The module as its file is now. */
  #upToDate(path: string): Module {
    const stamp = stampOf(path);
    const known = this.#modules.get(path);
    if (known?.stamp === stamp) return known;
    if (known) {
      for (const importer of this.#importersOf(path)) this.#renew(importer);
      known.stamp = stamp;
      return known;
    }
    const module: Module = { stamp, version: ++this.#version, imports: new Set() };
    this.#modules.set(path, module);
    return module;
  }

  /** A module is loaded anew the next time, though its file is what it was. */
  renew(path: string): void {
    for (const importer of this.#importersOf(path)) this.#renew(importer);
  }

  #renew(path: string): void {
    const module = this.#modules.get(path);
    if (!module) return;
    module.version = ++this.#version;
    module.imports.clear();
    delete createRequire(import.meta.url).cache[path];
  }

  /** A module and all that import it, through others too. */
  #importersOf(path: string, found = new Set<string>()): Set<string> {
    found.add(path);
    for (const [importer, { imports }] of this.#modules)
      if (imports.has(path) && !found.has(importer)) this.#importersOf(importer, found);
    return found;
  }
}

const pathOf = (url: string): string => fileURLToPath(url.split('?', 1)[0] as string);

/** One of each directory that functions are loaded from: one in a service. */
const tracked = new Set<Modules>();

const hooks: RegisterHooksOptions = {
  resolve(specifier, context, nextResolve) {
    const by = context.parentURL;
    const modules = by === undefined ? undefined : tracked.values().find((one) => one.has(by));
    if (by === undefined || !modules) {
      const resolved = nextResolve(specifier, context);
      return tracked.values().some((one) => one.has(resolved.url)) ? asModule(resolved) : resolved;
    }
    if (specifier === ownName) return { url: ownExports, shortCircuit: true };
    let resolved: ReturnType<typeof nextResolve>;
    try {
      resolved = nextResolve(specifier, context);
    } catch (error) {
      // The service's own serves where the directory has none.
      if (specifier === 'zod') return nextResolve(specifier, { ...context, parentURL: ownExports });
      // It may be there later.
      if (/^\.{1,2}\//.test(specifier)) modules.noteImport(by, new URL(specifier, by).href, true);
      throw error;
    }
    const url = modules.noteImport(by, resolved.url, context.conditions.includes('require'));
    return url === null ? resolved : asModule({ ...resolved, url });
  },
};

/** TypeScript is written as ES modules, whatever a `package.json` says that npm made (`"type": "commonjs"`). */
function asModule<T extends { readonly url: string; readonly format?: string | null | undefined }>(resolved: T): T {
  const isTypeScript = resolved.url.split('?', 1)[0]?.endsWith('.ts');
  return isTypeScript ? { ...resolved, format: 'module-typescript' } : resolved;
}
