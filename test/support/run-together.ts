/** A folder of suites that run in one process, so that they share their services (shared.ts). Each of its files still runs by itself. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Runs all tests of a folder, and of those in it, one file after the other. */
export function runTogether(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  // One suite: none runs before all are defined, else the run is over once those defined so far have run.
  describe(basename(folder), async () => {
    for (const file of files.sort()) await import(pathToFileURL(join(folder, file)).href);
  });
}
