import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's own directory. */
export const packageDir = fileURLToPath(new URL('../../..', import.meta.url));

/** What Vite writes beside the files: which is the program, and what styles go with it. */
export const MANIFEST = 'manifest.json';

/** Where the published package has the program built. */
const published = join(packageDir, 'dist/browser');

/** Where programs are that were built of sources, each by what it was made of. */
export const builtOfSources = join(packageDir, 'node_modules/.cache/console');

const SOURCES = 'console/{package.json,package-lock.json,vite.config.ts,tsconfig.json,src/**/*}';

/**
 * The directory that the built program is in, or is to be built into: of these sources, where there are any.
 * @throws errors of the file system
 */
export function programDir(): string {
  if (!hasSources()) return published;
  const files = globSync(SOURCES, { cwd: packageDir, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  // What is between them tells where one ends.
  const parts = paths.map((path) => `${path.slice(packageDir.length)}\0${readFileSync(path, 'utf8')}\0`);
  return join(builtOfSources, hash('sha256', parts.join(''), 'hex').slice(0, 24));
}

/** Whether the program can be built here: the published package has no sources of it. */
export const hasSources = (): boolean => import.meta.url.endsWith('.ts') && existsSync(join(packageDir, 'console/package.json'));
