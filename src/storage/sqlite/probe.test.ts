import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { probeDirectory } from './probe.ts';

const directory = await mkdtemp(join(tmpdir(), 'rds-probe-'));
after(() => rm(directory, { recursive: true, force: true }));

test('storage that takes a byte and gives it back works, as often as it is asked', async () => {
  for (let round = 0; round < 3; round++) await probeDirectory(directory);
  assert.deepEqual(await readdir(directory), ['.health']);
});

test('a directory that is gone, or is none, does not', async () => {
  await assert.rejects(probeDirectory(join(directory, 'nowhere')), { code: 'ENOENT' });
  await writeFile(join(directory, 'file'), '');
  await assert.rejects(probeDirectory(join(directory, 'file')), { code: 'ENOTDIR' });
});
