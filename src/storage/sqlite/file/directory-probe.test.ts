import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DirectoryProbe } from './directory-probe.ts';

const directory = await mkdtemp(join(tmpdir(), 'rds-probe-'));
after(() => rm(directory, { recursive: true, force: true }));

test('storage that takes a byte and gives it back works, as often as it is asked', async () => {
  const probe = new DirectoryProbe(directory);
  for (let round = 0; round < 3; round++) await probe.check();
  probe.close();
  assert.deepEqual(await readdir(directory), ['.health']);
});

test('a directory that is gone, or is none, does not', async () => {
  await assert.rejects(new DirectoryProbe(join(directory, 'nowhere')).check(), { code: 'ENOENT' });
  await writeFile(join(directory, 'file'), '');
  await assert.rejects(new DirectoryProbe(join(directory, 'file')).check(), { code: 'ENOTDIR' });
});

test('one that goes after it was asked does not, and one that comes back does', async () => {
  const [there, aside] = [join(directory, 'there'), join(directory, 'aside')];
  await mkdir(there);
  const probe = new DirectoryProbe(there);
  await probe.check();
  await rename(there, aside);
  await assert.rejects(probe.check(), { code: 'ENOENT' });
  await rename(aside, there);
  await probe.check();
  probe.close();
});
