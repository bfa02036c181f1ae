import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './runtime.mjs';

/** Runs the tests of its folder in one process, where they share what they start (test/support/run-together.ts). */
export const TOGETHER = 'together.suite.ts';

/** Where tests are. */
export const FOLDERS = ['test', 'src', 'scripts', 'console/src', 'console/test'];

/**
 * The files that run the tests of a directory; another path or pattern as it is.
 *
 * @param {string} path
 * @returns {string[]}
 */
export function testsAt(path) {
  if (!statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()) return [path];
  if (existsSync(join(root, path, TOGETHER))) return [join(path, TOGETHER)];
  const entries = readdirSync(join(root, path), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    if (entry.isDirectory()) return testsAt(join(path, entry.name));
    return entry.name.endsWith('.test.ts') ? [join(path, entry.name)] : [];
  });
}
