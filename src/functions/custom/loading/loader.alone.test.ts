import assert from 'node:assert/strict';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directoryWith, loading, write } from './testing/function-files.ts';

test('a file is a function by its default export: a function, or an object with one; an object keeps its `this`', async () => {
  const { answer } = loading(
    directoryWith({
      'plain.ts': 'export default (): number => 1',
      'object.ts': 'export default { more: 1, run() { return 1 + this.more } }',
      'module.mjs': 'export default () => 3',
      'script.js': 'export default () => 4',
      'common.js': 'module.exports = () => 5',
    }),
  );
  for (const [index, name] of ['plain', 'object', 'module', 'script', 'common'].entries())
    assert.equal(await answer(name), index + 1, name);
});

test('a function far from the service imports its package and zod', async () => {
  const { answer } = loading(
    directoryWith({
      'far.ts': `
        import { defineFunction, z } from 'record-data-service';
        import { z as own } from 'zod';
        import { helper } from './lib/helper.ts';
        export default defineFunction({ input: z.object({}), run: () => [own === z, helper] });`,
      'lib/helper.ts': `import { z } from 'record-data-service'; export const helper: string = typeof z.object;`,
    }),
  );
  assert.deepEqual(await answer('far'), [true, 'function']);
});

test('TypeScript is of ES modules though the package.json beside it, as npm makes one, says otherwise', async () => {
  const { answer } = loading(
    directoryWith({
      'package.json': '{"type":"commonjs"}',
      'types.ts': `import { two } from './lib/two.ts'; export default (): number => two;`,
      'lib/two.ts': 'export const two: number = 2;',
      'script.js': 'module.exports = () => 3',
    }),
  );
  assert.deepEqual([await answer('types'), await answer('script')], [2, 3]);
});

test('of several files with a name .ts comes first, then .mjs, then .js; as files go and come', async () => {
  const directory = directoryWith({ 'same.js': 'export default () => "js"' });
  const { answer, loader } = loading(directory);
  assert.equal(await answer('same'), 'js');
  write(directory, { 'same.mjs': 'export default () => "mjs"' });
  assert.equal(await answer('same'), 'mjs');
  write(directory, { 'same.ts': 'export default () => "ts"' });
  assert.equal(await answer('same'), 'ts');
  rmSync(join(directory, 'same.ts'));
  assert.equal(await answer('same'), 'mjs');
  rmSync(join(directory, 'same.mjs'));
  rmSync(join(directory, 'same.js'));
  assert.equal(await loader.find('same'), null);
});

test('a file that has changed counts from the next call on; one of the same length and time, too', async () => {
  const directory = directoryWith({ 'counter.ts': 'export default () => 1' });
  const { answer } = loading(directory);
  for (let n = 1; n < 6; n++) {
    assert.equal(await answer('counter'), n);
    assert.equal(await answer('counter'), n);
    write(directory, { 'next.tmp': `export default () => ${n + 1}` });
    renameSync(join(directory, 'next.tmp'), join(directory, 'counter.ts'));
  }
});

test('what a function imports of the directory is looked at as well, through others, and what has not changed stays', async () => {
  const directory = directoryWith({
    'one.ts': `import { far } from './lib/middle.ts'; export default () => far;`,
    'two.ts': `import { far } from './lib/middle.ts'; import { state } from './state.ts'; export default () => [far, state.count++];`,
    'lib/middle.ts': `export { far } from './far.mjs';`,
    'lib/far.mjs': `import data from './data.json' with { type: 'json' }; export const far = data.value;`,
    'lib/data.json': '{"value": 1}',
    'state.ts': 'export const state = { count: 0 };',
    'common.js': `module.exports = () => require('./helper.cjs').value;`,
    'helper.cjs': 'exports.value = 1;',
  });
  const { answer } = loading(directory);
  assert.deepEqual([await answer('one'), await answer('two'), await answer('common')], [1, [1, 0], 1]);
  write(directory, { 'lib/data.json': '{"value": 22}', 'helper.cjs': 'exports.value = 22;' });
  assert.deepEqual([await answer('two'), await answer('one'), await answer('common')], [[22, 1], 22, 22]);
  write(directory, { 'lib/middle.ts': 'export const far = 333;' });
  assert.deepEqual([await answer('one'), await answer('two')], [333, [333, 2]]);
});

test('calls at once share what is loaded', async () => {
  const directory = directoryWith({ 'slow.mjs': 'globalThis.rdsLoads = (globalThis.rdsLoads ?? 0) + 1; export default () => 1' });
  const { loader } = loading(directory);
  const found = await Promise.all(Array.from({ length: 20 }, () => loader.find('slow')));
  assert.equal(new Set(found).size, 1);
  assert.equal((globalThis as { rdsLoads?: number }).rdsLoads, 1);
});

test('no other name leads to a file', async () => {
  const directory = directoryWith({
    'getlead.ts': 'export default () => 1',
    'types.d.ts': 'export default 1',
    'deep/inner.ts': 'export default () => 1',
    '_own.ts': 'export default () => 1',
    '1st.ts': 'export default () => 1',
    'folder.ts/index.ts': 'export default () => 1',
    'fine.test.ts': 'throw new Error()',
  });
  const { loader, heard } = loading(directory);
  await loader.loadAll();
  const names = [
    'getlead',
    'types.d',
    'types',
    'deep/inner',
    '../x',
    '_own',
    '1st',
    'folder',
    'fine.test',
    '__proto__',
    'constructor',
    '',
    'a\0b',
  ];
  for (const name of names) assert.equal(await loader.find(name), null, name);
  assert.deepEqual(
    heard('error').map((told) => told.function),
    ['getlead'],
  );
});

test('the directory may be missing at first, and its files symbolic links', async () => {
  const directory = directoryWith({});
  const { loader, answer, heard } = loading(join(directory, 'later'));
  await loader.loadAll();
  assert.equal(await loader.find('linked'), null);
  write(directory, {
    'version-1/linked.ts': `import { value } from './_value.ts'; import { z } from 'record-data-service'; export default () => value + typeof z`,
    'version-1/_value.ts': 'export const value = 1;',
    'version-2/linked.ts': `import { value } from './_value.ts'; export default () => value`,
    'version-2/_value.ts': 'export const value = 2;',
    'elsewhere.ts': `import { z } from 'record-data-service'; export default () => typeof z.string`,
  });
  // Like configuration volumes: all files change at once.
  mkdirSync(join(directory, 'later'));
  symlinkSync('../version-1', join(directory, 'later/current'));
  for (const file of ['linked.ts', '_value.ts']) symlinkSync(`current/${file}`, join(directory, 'later', file));
  symlinkSync('../elsewhere.ts', join(directory, 'later/elsewhere.ts'));
  assert.equal(await answer('linked'), '1object');
  assert.equal(await answer('elsewhere'), 'function');
  symlinkSync('../version-2', join(directory, 'later/next'));
  renameSync(join(directory, 'later/next'), join(directory, 'later/current'));
  assert.equal(await answer('linked'), 2);
  assert.deepEqual(heard('error'), []);
});

test('the directory may be a symbolic link that goes from release to release', async () => {
  const files = { 'one.ts': `import { value } from './lib/value.ts'; export default () => value;` };
  const directory = directoryWith({});
  for (const release of ['1', '2']) {
    write(join(directory, release), { 'lib/value.ts': `export const value = ${release};` });
    // A file that does not change between releases may be one file.
    if (release === '1') write(join(directory, release), files);
    else linkSync(join(directory, '1/one.ts'), join(directory, '2/one.ts'));
  }
  const link = join(directory, 'current');
  symlinkSync('1', link);
  const { answer } = loading(link);
  assert.equal(await answer('one'), 1);
  rmSync(link);
  symlinkSync('2', link);
  assert.equal(await answer('one'), 2);
  write(directory, { '2/lib/value.ts': 'export const value = 333;' });
  assert.equal(await answer('one'), 333);
});
