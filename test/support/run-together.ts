/** Test files that run in one process: suites that share their services (shared.ts), and unit tests. Each of the files still runs by itself. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ALONE } from '../../scripts/test-files.mjs';

/** Runs the tests of a folder, and of its subfolders, one file after the other, but for those that run alone (scripts/test-files.mjs). */
export function runTogether(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.test.ts') && !name.endsWith(ALONE),
  );
  // One suite: no test runs before all are defined; otherwise the run would end with those defined so far.
  describe(basename(folder), async () => {
    for (const file of files.sort()) await import(pathToFileURL(join(folder, file)).href);
  });
}

/**
 * Runs test files one after the other. Each has a suite of its own, so that its hooks (`beforeEach`) are not those of the other files.
 * @param base URL that the files are relative to
 */
export function runFiles(base: string, files: readonly string[]): void {
  for (const file of files) {
    const url = new URL(file, base);
    describe(basename(fileURLToPath(url)), async () => {
      await import(url.href);
    });
  }
}
