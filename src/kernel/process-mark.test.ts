import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hasEnded, processMark } from './process-mark.ts';
import { clearTemporaryFiles, temporaryName } from './temporary-files.ts';

const directory = await mkdtemp(join(tmpdir(), 'rds-marks-'));
after(() => rm(directory, { recursive: true }));

/** A process that prints its mark and keeps running. */
async function another() {
  const module = new URL('./process-mark.ts', import.meta.url).href;
  const script = `
    const { processMark } = await import(${JSON.stringify(module)});
    process.stdout.write(processMark());
    setInterval(() => {}, 1_000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  after(() => child.kill());
  const mark = String((await once(child.stdout, 'data'))[0]);
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { mark, kill };
}

const linux = { skip: process.platform !== 'linux' };

test('the mark of a process says whether it has ended', linux, async () => {
  const { mark, kill } = await another();
  assert.equal(processMark(), processMark());
  assert.notEqual(processMark(), mark);
  assert.equal(hasEnded(processMark()), false);
  assert.equal(hasEnded(mark), false);
  await kill();
  assert.equal(hasEnded(mark), true);
});

test('a number that another process has now is none of it', linux, () => {
  const [view, pid, began] = processMark().split('-');
  assert.equal(hasEnded(`${view}-${pid}-${Number(began) - 1}`), true);
});

test('of other machines nothing is known, and of other names', () => {
  const elsewhere = `${'0'.repeat(12)}-${2 ** 22 - 1}-5`;
  for (const mark of [elsewhere, '', 'rdsb', '1-2-3', `${processMark()}0x`]) assert.equal(hasEnded(mark), false, mark);
});

test('files of ended processes are cleared at once, others after an hour', linux, async () => {
  const { mark, kill } = await another();
  await kill();
  const elsewhere = `${'0'.repeat(12)}-5-5`;
  const [gone, kept] = [`.x.${mark}.abc.part`, temporaryName('.x', 'part')];
  const [young, old] = [`.x.${elsewhere}.abc.part`, `.x.${elsewhere}.def.part`];
  const others = [`.y.${mark}.abc.part`, `.x.${mark}.abc.other`, 'x'];
  for (const name of [gone, kept, young, old, ...others]) await writeFile(join(directory, name), 'half');
  const before = Date.now() / 1_000 - 3_700;
  await utimes(join(directory, old), before, before);
  await clearTemporaryFiles(directory, '.x', 'part');
  assert.deepEqual((await readdir(directory)).sort(), [kept, young, ...others].sort());
  await assert.rejects(clearTemporaryFiles(join(directory, 'nowhere'), '.x', 'part'), { code: 'ENOENT' });
});
