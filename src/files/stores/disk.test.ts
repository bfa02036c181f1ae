import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryName } from '../../kernel/temporary-files.ts';
import { DiskStore } from './disk.ts';
import { clearAbandoned } from './index.ts';
import { fileStoreCases, newId, received } from './testing/cases.ts';

const directory = await mkdtemp(join(tmpdir(), 'disk-store-'));
after(() => rm(directory, { recursive: true }));
const store = new DiskStore(join(directory, 'data', 'files'));

fileStoreCases(() => store);

test('files are for the service alone, and nothing is left where they came', async () => {
  const id = newId();
  await store.put('modes', id, await received(store, Buffer.from('x')));
  const path = join(directory, 'data', 'files', 'modes', id.slice(0, 2), id);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(store.incoming), []);
});

test('bytes that are there stay', async () => {
  const id = newId();
  await store.put('twice', id, await received(store, Buffer.from('first')));
  const second = await received(store, Buffer.from('second'));
  await assert.rejects(store.put('twice', id, second), { code: 'EEXIST' });
  await second.discard();
  assert.equal((await store.stat('twice', id))?.size, 5);
  const files = await Promise.all(['a', 'bb', 'ccc'].map((text) => received(store, Buffer.from(text))));
  const other = newId();
  const put = await Promise.allSettled(files.map((file) => store.put('twice', other, file)));
  assert.equal(put.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const file of files) await file.discard();
});

test('directories that somebody removed are made again', async () => {
  const id = newId();
  await store.put('gone', id, await received(store, Buffer.from('x')));
  await rm(join(directory, 'data', 'files', 'gone'), { recursive: true });
  await store.put('gone', id, await received(store, Buffer.from('y')));
  assert.equal((await store.stat('gone', id))?.size, 1);
});

test('the place of a system that has no files yet is there once it was made', async () => {
  const isUsed = async () => true;
  await assert.rejects(store.ready('bare', isUsed), { name: 'ServiceError' });
  await store.makePlace('bare');
  await store.ready('bare', isUsed);
  await store.makePlace('bare');
  await rm(join(directory, 'data', 'files', 'bare'), { recursive: true });
  await assert.rejects(store.ready('bare', isUsed), { name: 'ServiceError' });
});

test('what a process was receiving that has ended is removed at once', { skip: process.platform !== 'linux' }, async () => {
  const module = new URL('../../kernel/temporary-files.ts', import.meta.url).href;
  const script = `process.stdout.write((await import(${JSON.stringify(module)})).temporaryName('upload', 'part'))`;
  const gone = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const own = temporaryName('upload', 'part');
  for (const name of [gone, own]) await writeFile(join(store.incoming, name), 'half');
  await clearAbandoned(store.incoming);
  assert.deepEqual(await readdir(store.incoming), [own]);
  await rm(join(store.incoming, own));
});

test('what a crash left is removed after an hour', async () => {
  const [old, young] = [join(store.incoming, 'old.part'), join(store.incoming, 'young.part')];
  await writeFile(old, 'x');
  await writeFile(young, 'x');
  const before = Date.now() / 1000 - 3_700;
  await utimes(old, before, before);
  await clearAbandoned(store.incoming);
  assert.deepEqual(await readdir(store.incoming), ['young.part']);
  await rm(young);
  await clearAbandoned(join(directory, 'nowhere'));
});
