import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { productionLock } from './pack.ts';

test('the lock file of the package has what the service needs, and nothing of development', () => {
  const lock = {
    name: 'served',
    packages: {
      '': { version: '1.0.0', dependencies: { a: '1' }, devDependencies: { b: '1' } },
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' },
      'node_modules/a-linux-x64': { version: '1.0.0', optional: true },
      'node_modules/b': { version: '1.0.0', dev: true },
      'node_modules/c': { version: '1.0.0', devOptional: true },
    },
  };
  assert.deepEqual(JSON.parse(productionLock(JSON.stringify(lock))), {
    name: 'served',
    packages: {
      '': { version: '1.0.0', dependencies: { a: '1' } },
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' },
      'node_modules/a-linux-x64': { version: '1.0.0', optional: true },
      'node_modules/c': { version: '1.0.0', devOptional: true },
    },
  });
});

test('the package holds the parts that the program reads, and no sources or tests', () => {
  const { files, bin, exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const part of ['bin', 'dist', 'index.mjs', 'scripts/runtime.mjs', 'template']) assert.ok(files.includes(part), part);
  for (const part of ['src', 'test', 'console', 'scripts', 'data']) assert.ok(!files.includes(part), part);
  assert.equal(bin['record-service'], './bin/record-service.mjs');
  assert.equal(exports['.'].default, './index.mjs');
});
