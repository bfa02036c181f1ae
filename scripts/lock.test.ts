import assert from 'node:assert/strict';
import { it } from 'node:test';
import { missingPlatforms, withoutIntegrity } from './lock.ts';

it('names the platform packages that a lock file lacks', () => {
  const missing = missingPlatforms({
    '': {},
    'node_modules/tool': {
      version: '1.2.3',
      dev: true,
      optionalDependencies: {
        '@tool/linux-x64-musl': '1.2.3',
        '@tool/darwin-arm64': '1.2.3',
        colors: '1.0.0',
        '@tool/win32-x64': '^1',
      },
    },
    'node_modules/@tool/darwin-arm64': { version: '1.2.3' },
  });
  const expected = { version: '1.2.3', dev: true, optional: true, os: ['linux'], cpu: ['x64'], libc: ['musl'] };
  assert.deepEqual([...missing], [['node_modules/@tool/linux-x64-musl', expected]]);
});

it('names the entries without a hash, tools of other platforms too', () => {
  const packages = {
    '': {},
    console: { version: '1.0.0' },
    'node_modules/console': { link: true },
    'node_modules/good': { version: '1.0.0', integrity: 'sha512-x' },
    'node_modules/bad': { version: '1.0.0' },
    'node_modules/bad/node_modules/worse': { version: '1.0.0', dev: true },
    'node_modules/foreign': { version: '1.0.0', dev: true, optional: true, os: ['aix'] },
  };
  assert.deepEqual(withoutIntegrity(packages), [
    'node_modules/bad',
    'node_modules/bad/node_modules/worse',
    'node_modules/foreign',
  ]);
});
