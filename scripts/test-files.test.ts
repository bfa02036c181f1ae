import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from './runtime.mjs';
import { TOGETHER, testsAt } from './test-files.mjs';

const folders = ['test', 'src', 'scripts'];
const testsUnder = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));

test('a run of all tests leaves no file of tests out, and runs none twice', () => {
  const reached = folders.flatMap(testsAt).flatMap((path) => {
    if (basename(path) !== TOGETHER) return [path];
    assert.match(readFileSync(join(root, path), 'utf8'), /^runTogether\(import\.meta\.dirname\);$/m, path);
    return testsUnder(dirname(path));
  });
  assert.notEqual(reached.length, 0);
  assert.deepEqual(reached.sort(), folders.flatMap(testsUnder).sort());
});
