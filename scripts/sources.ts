/** Checks that no other tool covers: the length of files, and that no file names the machine it was written on. */
import { globSync, readFileSync } from 'node:fs';

/** Maximum number of lines of a source file; tests with tables may be longer. */
const MAX_LINES = 300;
const MAX_TEST_LINES = 450;

const EVERYWHERE = [
  '{src,test,bench,scripts,bin,docs,examples,template,.ci}/**/*',
  'console/{src,test}/**/*',
  'site/{src,pages,public}/**/*',
  'site/.vitepress/{config.ts,theme/*}',
  'client/src/**/*',
  '{console,site,runtime}/package-lock.json',
  '*.{json,md,mjs,ts,js,yml,yaml}',
  '.ci/run',
  '.dependency-cruiser.mjs',
];

/** An absolute path below a directory in which people or machines keep their work. */
const MACHINE_PATH = /(?:^|[\s"'`(=:])(?:file:\/\/)?\/(?:work|home|root|Users|opt|mnt|srv)\/[\w.-]+/;

/** A package address of a registry other than npm's own. */
const FOREIGN_REGISTRY = /"resolved": "https?:\/\/(?!registry\.npmjs\.org\/)/;

/**
 * @returns one line per finding in the working directory.
 */
export function sourceFindings(): string[] {
  const findings: string[] = [];
  for (const file of globSync('{src,console/src,site/src,client/src}/**/*.{ts,tsx}')) {
    const length = lines(file).length;
    const bound = file.endsWith('.test.ts') ? MAX_TEST_LINES : MAX_LINES;
    if (length > bound) findings.push(`${file}: ${length} lines, more than ${bound}`);
  }
  for (const file of globSync(EVERYWHERE, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    const path = `${file.parentPath}/${file.name}`;
    for (const [index, line] of lines(path).entries()) {
      const [found] = MACHINE_PATH.exec(line) ?? FOREIGN_REGISTRY.exec(line) ?? [];
      if (found) findings.push(`${path}:${index + 1}: names this machine: ${found.trim()}`);
    }
  }
  return findings;
}

/** Summary of file lengths for the reader of the report. */
function lengths(): string {
  const sorted = globSync('src/**/*.ts', { exclude: ['**/*.test.ts'] })
    .map((file) => lines(file).length)
    .sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return `${sorted.length} source files, median ${at(0.5)} lines, nine in ten under ${at(0.9) + 1}`;
}

function lines(file: string): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

if (import.meta.main) {
  const findings = sourceFindings();
  for (const line of findings) console.error(line);
  console.log(lengths());
  process.exitCode = findings.length > 0 ? 1 : 0;
}
