/**
 * Builds the console if it is not up to date: installs its packages, which are separate from the service's, runs Vite, and adds compressed copies of
 * the
 * files.
 * Usage: node scripts/build-console.ts [directory]
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { builtOfSources, MANIFEST, packageDir, programDir } from '../src/console/program/location.ts';
import { exclusively } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { LaunchError, launching } from './runtime.mjs';

const consoleDir = join(packageDir, 'console');
/** Number of builds kept: a running process may still serve an older one. */
const MAX_KEPT = 3;

await launching(async () => {
  const directory = process.argv[2] === undefined ? await programDir() : resolve(process.argv[2]);
  const lock = `${builtOfSources}.lock`;
  mkdirSync(dirname(lock), { recursive: true });
  await exclusively(lock, async () => {
    // Another process may have built it meanwhile.
    if (!existsSync(join(directory, MANIFEST))) await build(directory);
  });
});

async function build(directory: string): Promise<void> {
  await ensureInstalled({ folder: consoleDir });
  const temporary = `${directory}.${process.pid}`;
  mkdirSync(dirname(directory), { recursive: true });
  try {
    const vite = [
      join(consoleDir, 'node_modules/vite/bin/vite.js'),
      'build',
      '--outDir',
      temporary,
      '--emptyOutDir',
      '--logLevel',
      'warn',
    ];
    const { status, error } = spawnSync(process.execPath, vite, {
      cwd: consoleDir,
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) throw new LaunchError(`the console could not be built: ${error?.message ?? `vite ended with ${status}`}`);
    compress(temporary);
    rmSync(directory, { recursive: true, force: true });
    renameSync(temporary, directory);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  removeOld();
}

function compress(directory: string): void {
  for (const file of globSync('*.{js,css,svg}', { cwd: directory })) {
    const path = join(directory, file);
    const bytes = readFileSync(path);
    const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
    writeFileSync(`${path}.br`, br);
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

function removeOld(): void {
  const built = globSync('*', { cwd: builtOfSources }).map((name) => join(builtOfSources, name));
  const byAge = built.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { path } of byAge.slice(MAX_KEPT)) rmSync(path, { recursive: true, force: true });
}
