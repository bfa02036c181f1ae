import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTextFile } from '../../kernel/file-reads.ts';

/** Root directory of the package. */
export const packageDir = fileURLToPath(new URL('../../..', import.meta.url));

/** Manifest that Vite writes: names the entry script and its styles. */
export const MANIFEST = 'manifest.json';

/** Directory of the built program in the published package. */
const published = join(packageDir, 'dist/browser');

/** Directory of programs built from sources, in subdirectories by content hash. */
export const builtOfSources = join(packageDir, 'node_modules/.cache/console');

const SOURCES = 'console/{package.json,package-lock.json,vite.config.ts,tsconfig.json,src/**/*}';

/**
 * Returns the directory of the built program, or in which to build it; with sources it depends on their hash.
 * @throws errors of the file system
 */
export async function programDir(): Promise<string> {
  if (!hasSources()) return published;
  const paths: string[] = [];
  for await (const entry of glob(SOURCES, { cwd: packageDir, withFileTypes: true }))
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
  paths.sort();
  const texts = await Promise.all(paths.map((path) => readTextFile(path)));
  // Zero bytes separate names and contents unambiguously.
  const parts = paths.map((path, at) => `${path.slice(packageDir.length)}\0${texts[at]}\0`);
  return join(builtOfSources, hash('sha256', parts.join(''), 'hex').slice(0, 24));
}

/** Whether the program can be built here; the published package has no sources. */
export const hasSources = (): boolean => import.meta.url.endsWith('.ts') && existsSync(join(packageDir, 'console/package.json'));
