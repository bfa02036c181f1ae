/**
 * What `npm pack` does before and after it reads the package: builds `dist`, and writes the versions that were tested as `npm-shrinkwrap.json`, by
 * which npm installs the dependencies of the published package. Removes that file afterwards: in a clone `package-lock.json` decides.
 * Usage: node scripts/pack.ts before|after
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const SHRINKWRAP = 'npm-shrinkwrap.json';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devDependencies?: unknown }>>;
}

/** Returns a lock file without development dependencies. @param lock text of `package-lock.json` */
export function productionLock(lock: string): string {
  const file = JSON.parse(lock) as LockFile;
  const kept = Object.entries(file.packages)
    .filter(([, { dev }]) => !dev)
    .map(([path, { devDependencies: _, ...entry }]) => [path, entry]);
  return `${JSON.stringify({ ...file, packages: Object.fromEntries(kept) }, undefined, 2)}\n`;
}

function before(): void {
  const { status } = spawnSync(process.execPath, [...process.execArgv, 'scripts/build.ts'], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(SHRINKWRAP, productionLock(readFileSync('package-lock.json', 'utf8')));
}

if (import.meta.main) {
  if (process.argv[2] === 'before') before();
  else rmSync(SHRINKWRAP, { force: true });
}
