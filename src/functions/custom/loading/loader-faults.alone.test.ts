import assert from 'node:assert/strict';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directoryWith, loading, write } from './testing/function-files.ts';

test('a version that cannot be loaded leaves the one before in service, and is logged once', async () => {
  const directory = directoryWith({
    'careful.ts': `import { value } from './_value.ts'; export default () => value;`,
    '_value.ts': 'export const value = 1;',
  });
  const { answer, heard } = loading(directory);
  assert.equal(await answer('careful'), 1);
  write(directory, { '_value.ts': 'export const value = ;' });
  for (let time = 0; time < 3; time++) assert.equal(await answer('careful'), 1);
  assert.equal(heard('error').length, 1);
  assert.match(heard('error')[0]?.msg ?? '', /the version before stays in service/);
  assert.match(heard('error')[0]?.file ?? '', /careful\.ts$/);
  write(directory, { '_value.ts': 'export const value = 2;' });
  assert.equal(await answer('careful'), 2);
  assert.equal(heard('error').length, 1);
});

test('where no version could be loaded the call is a server error, until the file can be', async () => {
  const directory = directoryWith({
    'enums.ts': 'enum Color { Red } export default () => Color.Red;',
    'nothing.ts': 'export const run = 1;',
    'missing.ts': `import { value } from './_later.ts'; export default () => value;`,
    'schema.ts': 'export default { input: { type: "no type" }, run() {} };',
    'thrown.mjs': 'throw "text";',
    'hangs.mjs': 'await new Promise(() => {}); export default () => 1;',
    'fine.ts': 'export default () => 1',
  });
  const { answer, loader, heard } = loading(directory, 300);
  await loader.loadAll();
  const names = ['enums', 'nothing', 'missing', 'schema', 'thrown', 'hangs'];
  for (const name of [...names, ...names])
    await assert.rejects(loader.find(name), { key: 'internal', status: 500, message: 'server error' }, name);
  assert.equal(heard('error').length, names.length);
  assert.match(heard('error').find(({ file }) => file?.endsWith('enums.ts'))?.msg ?? '', /no enum/);
  assert.equal(heard('info').at(-1)?.count, 1);
  write(directory, { '_later.ts': 'export const value = 7;' });
  assert.equal(await answer('missing'), 7);
});

test('a file that cannot be looked at is logged once, and counts when it can be', async () => {
  const directory = directoryWith({ 'other.ts': 'export default () => 1' });
  symlinkSync('loop.mjs', join(directory, 'loop.mjs'));
  const { loader, answer, heard } = loading(directory);
  for (let time = 0; time < 3; time++) await assert.rejects(loader.find('loop'), { key: 'internal' });
  assert.equal(heard('error').length, 1);
  assert.match(heard('error')[0]?.msg ?? '', /cannot be loaded/);
  rmSync(join(directory, 'loop.mjs'));
  write(directory, { 'loop.mjs': 'export default () => 2' });
  assert.equal(await answer('loop'), 2);
});

test('a directory that cannot be searched is logged once, whatever is asked for; what was loaded stays', async () => {
  const directory = directoryWith({ 'release/one.ts': 'export default () => 1' });
  const link = join(directory, 'current');
  const point = (to: string) => {
    symlinkSync(to, join(directory, 'next'));
    renameSync(join(directory, 'next'), link);
  };
  point('release');
  const { loader, answer, heard } = loading(link);
  assert.equal(await answer('one'), 1);
  for (let time = 1; time < 3; time++) {
    point('current');
    for (const name of ['two', 'three', 'two']) await assert.rejects(loader.find(name), { key: 'internal' });
    assert.equal(await answer('one'), 1);
    assert.deepEqual(
      heard('error').map(({ msg }) => msg),
      Array(time).fill('FUNCTIONS_DIR cannot be searched'),
    );
    point('release');
    assert.equal(await loader.find('two'), null);
    assert.equal(await answer('one'), 1);
  }
});

test('what is thrown while a file is loaded may be anything', async () => {
  const proxy = 'new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 1; } })';
  const directory = directoryWith({
    'proxy.mjs': `throw ${proxy};`,
    'frozen.mjs': `throw Object.freeze(new Error('frozen'));`,
    'getter.mjs': `export default { get run() { throw ${proxy}; } };`,
    'schema.mjs': `export default { input: { get type() { throw ${proxy}; } }, run() {} };`,
    'standard.mjs': `export default { input: ${proxy}, run() {} };`,
    'long.mjs': `throw new Error('x'.repeat(1e6));`,
    'then.mjs': `export const then = (done, fail) => fail(${proxy});`,
  });
  const { loader, heard, text } = loading(directory);
  const names = ['proxy', 'frozen', 'getter', 'schema', 'standard', 'long', 'then'];
  for (const name of [...names, ...names])
    await assert.rejects(loader.find(name), { key: 'internal', message: 'server error' }, name);
  assert.equal(heard('error').length, names.length);
  assert.ok(text().length < 20_000);
});

test('a file that cannot be read for now is loaded at the next call, though it has not changed', async () => {
  const directory = directoryWith({
    'busy.mjs': `
      globalThis.loads = (globalThis.loads ?? 0) + 1;
      if (globalThis.loads < 4) throw Object.assign(new Error('too many open files'), { code: 'EMFILE', syscall: 'open' });
      export default () => 'loaded';`,
  });
  const { loader, heard } = loading(directory);
  for (let n = 0; n < 3; n++) await assert.rejects(loader.find('busy'), { key: 'unavailable' });
  assert.equal((await loader.find('busy'))?.name, 'busy');
  assert.equal(heard('error').length, 1);
});
