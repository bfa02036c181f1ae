/**
 * Completes the lock files of the service, the console and the site with optional platform packages that npm omitted because the registry in use did not have
 * them:
 * `npm ci` refuses a lock file without them (https://github.com/npm/cli/issues/4828). Fails if an entry has no integrity hash.
 * Usage: node scripts/lock.ts [--fix]
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockedPackage {
  version?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const FILES = ['package-lock.json', 'console/package-lock.json', 'site/package-lock.json'];
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

function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[/-]/);
  const os = words.filter((word) => SYSTEMS.includes(word));
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  if (os.length === 0 || cpu.length === 0) return undefined;
  if (words.some((word) => word.startsWith('musl'))) return { os, cpu, libc: ['musl'] };
  return words.some((word) => word.startsWith('gnu')) ? { os, cpu, libc: ['glibc'] } : { os, cpu };
}

function check(file: string, isFixed: boolean): void {
  const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
  const missing = missingPlatforms(lock.packages);
  if (isFixed && missing.size > 0) {
    const all = [...Object.entries(lock.packages), ...missing].sort(([a], [b]) => a.localeCompare(b, 'en'));
    writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(all) }, null, 2)}\n`);
    console.log(`${file}: ${missing.size} platform packages added`);
  } else if (missing.size > 0) {
    console.error(`${file} lacks ${[...missing.keys()].join(', ')}: run "npm run fix"`);
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

if (import.meta.main) for (const file of FILES) check(file, process.argv.includes('--fix'));
