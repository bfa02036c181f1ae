import { statSync } from 'node:fs';
import { createRequire, type RegisterHooksOptions, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The entry of this package: TypeScript sources in a clone, built JavaScript in the published package. */
const ownExports = new URL('../../../index.ts', import.meta.url).href;
const ownFolder = new URL('.', ownExports).href;
const ownName = 'record-data-service';
/** Query parameter of module addresses; Node treats another version as another module. */
const VERSION = '?version=';

/** Identifies a version of a file. Empty if there is no file; the error code if it cannot be accessed. */
export type Stamp = string;

/** Takes a few µs. Never throws. */
export function stampOf(path: string): Stamp {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : '';
  } catch (error) {
    // E.g. a loop of symbolic links, or a directory without search permission.
    return String((error as { code?: unknown }).code);
  }
}

/** Whether a stamp is that of an accessible file. */
export const isOfFile = (stamp: Stamp): boolean => stamp.includes(' ');

interface Module {
  stamp: Stamp;
  /** Changes whenever the file, or one that it imports, has changed. */
  version: number;
  /** Paths of imported files in the same directory, missing ones included. */
  readonly imports: Set<string>;
}

/**
 * Tracks the modules of function directories by path, with their versions and imports. A changed module is reloaded with all modules that import it;
 * others stay. Old versions remain in memory, because Node never unloads a module.
 */
export class Modules {
  readonly #folders = new Set<string>();
  readonly #modules = new Map<string, Module>();
  readonly #onImport: (path: string, stamp: Stamp) => void;
  #version = 0;

  /** @param onImport called with each imported file of the directories, before its code runs */
  constructor(onImport: (path: string, stamp: Stamp) => void = () => {}) {
    this.#onImport = onImport;
    tracked.add(this);
    if (tracked.size === 1) registerHooks(hooks);
  }

  /**
   * Adds a directory whose imports are tracked. May be called again, because FUNCTIONS_DIR may be a symbolic link that is switched to another
   * release.
   * @param directory absolute, without symbolic links
   */
  watch(directory: string): void {
    this.#folders.add(`${pathToFileURL(directory).href}/`);
  }

  /**
   * Returns the address for importing the current version of a file, after checking it and all that it imports.
   * @param path absolute, without symbolic links
   */
  address(path: string): string {
    for (const [imported] of this.filesOf(path)) this.#upToDate(imported);
    return `${pathToFileURL(path).href}${VERSION}${this.#upToDate(path).version}`;
  }

  /** Returns a module and all that it imports, directly or indirectly, with the stamps of their current versions. */
  filesOf(path: string): [path: string, stamp: Stamp][] {
    const found = new Map<string, Stamp>();
    const visit = (at: string): void => {
      const module = this.#modules.get(at);
      if (!module || found.has(at)) return;
      found.set(at, module.stamp);
      for (const imported of module.imports) visit(imported);
    };
    visit(path);
    return [...found];
  }

  /** Whether the module is tracked. A function may be a symbolic link to a file elsewhere. */
  has(url: string): boolean {
    return url.startsWith('file:') && this.#modules.has(pathOf(url));
  }

  /** Records an import. @returns the address to load; `null` if the imported file is not tracked */
  recordImport(by: string, url: string, isRequired: boolean): string | null {
    if (url.includes('/node_modules/') || url.startsWith(ownFolder)) return null;
    if (!this.#folders.values().some((folder) => url.startsWith(folder))) return null;
    const path = pathOf(url);
    const { version, stamp } = this.#upToDate(path);
    const imports = this.#modules.get(pathOf(by))?.imports;
    if (imports && !imports.has(path)) {
      imports.add(path);
      this.#onImport(path, stamp);
    }
    // `require` caches by path, so its cache entry is deleted when a module changes.
    return isRequired ? url : `${url.split('?', 1)[0]}${VERSION}${version}`;
  }

  /** Returns the module after checking its file. */
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

  /** Makes a module reload although its file has not changed. */
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

  /** Returns the paths of a module and of all that import it, directly or indirectly. */
  #importersOf(path: string, found = new Set<string>()): Set<string> {
    found.add(path);
    for (const [importer, { imports }] of this.#modules)
      if (imports.has(path) && !found.has(importer)) this.#importersOf(importer, found);
    return found;
  }
}

const pathOf = (url: string): string => fileURLToPath(url.split('?', 1)[0] as string);

/** One per function directory; a service has one. */
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
      // Falls back to the service's own copy if the directory has none.
      if (specifier === 'zod') return nextResolve(specifier, { ...context, parentURL: ownExports });
      // Track it, because it may be created later.
      if (/^\.{1,2}\//.test(specifier)) modules.recordImport(by, new URL(specifier, by).href, true);
      throw error;
    }
    const url = modules.recordImport(by, resolved.url, context.conditions.includes('require'));
    return url === null ? resolved : asModule({ ...resolved, url });
  },
};

/** Loads TypeScript as ES modules, even if a `package.json` made by npm says `"type": "commonjs"`. */
function asModule<T extends { readonly url: string; readonly format?: string | null | undefined }>(resolved: T): T {
  const isTypeScript = resolved.url.split('?', 1)[0]?.endsWith('.ts');
  return isTypeScript ? { ...resolved, format: 'module-typescript' } : resolved;
}
