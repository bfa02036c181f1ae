/**
 * Completes the lock files:
 * - Optional platform packages that npm omitted because the registry in use did not have them; `npm ci` refuses a lock file without them
 *   (https://github.com/npm/cli/issues/4828).
 * - Addresses of packages, which npm omits if it is configured so. Without them, `npm ci` requests the list of versions of each package, also if the
 *   package is in its cache, and takes twice as long.
 *
 * Fails if an entry has no integrity hash, or if the pinned Node of `runtime/` is not that of the development dependencies.
 * Usage: node scripts/lock.ts [--fix]
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockedPackage {
  version?: string;
  /** Name of the package, if the path has another one. */
  name?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const RUNTIME = 'runtime/package-lock.json';
const FILES = ['package-lock.json', 'console/package-lock.json', 'site/package-lock.json', RUNTIME];
/** npm replaces it by the registry that is configured. */
const REGISTRY = 'https://registry.npmjs.org';
const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];

/**
 * @param packages the `packages` of a lock file.
 * @returns missing entries by path, limited to packages whose name contains their platform.
 */
export function missingPlatforms(packages: Record<string, LockedPackage>): Map<string, LockedPackage> {
  const missing = new Map<string, LockedPackage>();
  for (const { dev, optionalDependencies } of Object.values(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
      const path = `node_modules/${name}`;
      const platform = platformOf(name);
      if (Object.hasOwn(packages, path) || !platform || !/^\d/.test(version)) continue;
      missing.set(path, { version, ...(dev ? { dev } : {}), optional: true, ...platform });
    }
  }
  return missing;
}

/**
 * @param packages the `packages` of a lock file.
 * @returns paths of the entries without an integrity hash.
 */
export function withoutIntegrity(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages)
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.link && !entry.integrity)
    .map(([path]) => path);
}

/**
 * @param packages the `packages` of a lock file.
 * @returns missing addresses by path.
 */
export function missingAddresses(packages: Record<string, LockedPackage>): Map<string, string> {
  const missing = new Map<string, string>();
  for (const [path, { name, version, integrity, resolved }] of Object.entries(packages)) {
    if (!integrity || resolved) continue;
    const packageName = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    missing.set(path, `${REGISTRY}/${packageName}/-/${packageName.split('/').at(-1)}-${version}.tgz`);
  }
  return missing;
}

function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[/-]/);
  const os = words.filter((word) => SYSTEMS.includes(word));
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  if (os.length === 0 || cpu.length === 0) return undefined;
  if (words.some((word) => word.startsWith('musl'))) return { os, cpu, libc: ['musl'] };
  return words.some((word) => word.startsWith('gnu')) ? { os, cpu, libc: ['glibc'] } : { os, cpu };
}

const readLock = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };

function check(file: string, isFixed: boolean): void {
  const lock = readLock(file);
  const missing = missingPlatforms(lock.packages);
  const addresses = missingAddresses(lock.packages);
  if (isFixed && missing.size + addresses.size > 0) {
    const all = [...Object.entries(lock.packages), ...missing]
      .sort(([a], [b]) => a.localeCompare(b, 'en'))
      .map(([path, entry]) => [path, withAddress(entry, addresses.get(path))]);
    writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(all) }, null, 2)}\n`);
    console.log(`${file}: ${missing.size} platform packages and ${addresses.size} addresses added`);
  } else if (missing.size + addresses.size > 0) {
    const what = [...missing.keys(), ...Array.from(addresses.keys(), (path) => `the address of ${path}`)];
    console.error(`${file} lacks ${what.join(', ')}: run "npm run fix"`);
    process.exitCode = 1;
  }
  const unproved = withoutIntegrity(lock.packages);
  if (unproved.length > 0) {
    console.error(
      `${file} has no integrity for ${unproved.join(', ')}: install these anew, or a version that the registry has for every platform`,
    );
    process.exitCode = 1;
  }
}

/** Adds an address at its place in npm's order. */
function withAddress({ name, version, ...rest }: LockedPackage, resolved: string | undefined): LockedPackage {
  return { ...(name ? { name } : {}), ...(version ? { version } : {}), ...(resolved ? { resolved } : {}), ...rest };
}

/** Reports packages of `runtime/` that are not the Node of the development dependencies. */
function checkRuntime(): void {
  const pinned = readLock('package-lock.json').packages['node_modules/node']?.version;
  const others = Object.entries(readLock(RUNTIME).packages).filter(([path, { version }]) => path && version !== pinned);
  if (others.length === 0) return;
  console.error(`${RUNTIME}: ${others.map(([path]) => path).join(', ')}: not the version ${pinned} of the package "node"`);
  process.exitCode = 1;
}

if (import.meta.main) {
  for (const file of FILES) check(file, process.argv.includes('--fix'));
  checkRuntime();
}
