/**
 * Checks that the generated parts of docs/reference/ are what the code gives: errors, limits, settings, commands, tables, tools.
 * Usage: node scripts/reference.ts [--fix]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { commandSections } from './reference/commands.ts';
import { errorSections } from './reference/errors.ts';
import { limitSections } from './reference/limits.ts';
import { withSections } from './reference/page.ts';
import { settingSections } from './reference/settings.ts';
import { tableSections } from './reference/tables.ts';
import { toolSections } from './reference/tools.ts';

const FOLDER = 'docs/reference';

/** Each page, and what its marked sections hold. */
const pages = new Map<string, () => string[] | Promise<string[]>>([
  ['errors', errorSections],
  ['limits', limitSections],
  ['settings', settingSections],
  ['commands', commandSections],
  ['tables', tableSections],
  ['tools', toolSections],
]);

const isFix = process.argv.includes('--fix');
for (const [name, sections] of pages) {
  const path = `${FOLDER}/${name}.md`;
  try {
    const before = readFileSync(path, 'utf8');
    const after = withSections(before, await sections());
    if (after === before) continue;
    if (isFix) writeFileSync(path, after);
    else throw new Error(`line ${firstDifference(before, after)} is not what the code gives: run "npm run fix"`);
  } catch (error) {
    console.error(`${path}: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

/** @returns the number of the first line that differs */
function firstDifference(before: string, after: string): number {
  const expected = after.split('\n');
  return before.split('\n').findIndex((line, index) => line !== expected[index]) + 1;
}
