import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from './runtime.mjs';
import { ALONE, FOLDERS, groupsOf, TOGETHER, testsAt } from './test-files.mjs';

const testsUnder = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.[cm]?[jt]sx?$/.test(name) && !/(?:^|[\\/])node_modules[\\/]/.test(name))
    .map((name) => join(folder, name));

test('a run of all tests leaves no file of tests out, and runs none twice', () => {
  const reached = FOLDERS.flatMap(testsAt).flatMap((path) => {
    if (basename(path) !== TOGETHER) return [path];
    assert.match(readFileSync(join(root, path), 'utf8'), /^runTogether\(import\.meta\.dirname\);$/m, path);
    return testsUnder(dirname(path)).filter((name) => !name.endsWith(ALONE));
  });
  assert.notEqual(reached.length, 0);
  const entries = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const folders = entries.map(({ name }) => name).filter((name) => name !== 'node_modules' && !name.startsWith('.'));
  assert.deepEqual(reached.sort(), folders.flatMap(testsUnder).sort());
});

test('groups hold every file once; unit tests of a folder share a process, suites do not', () => {
  const files = FOLDERS.flatMap(testsAt);
  const groups = groupsOf(files);
  assert.deepEqual(groups.flat().sort(), files.sort());
  assert.ok(groups.every((group) => group.length === 1 || !group.some((file) => file.endsWith(ALONE))));
  const shared = groups.filter((group) => group.length > 1);
  assert.ok(shared.length > 20 && shared.flat().every((file) => !file.startsWith(join('test', ''))));
});
