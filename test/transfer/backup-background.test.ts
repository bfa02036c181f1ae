/** A backup yields to requests that are served at the same time. Reference: backup.md#backup. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataForTest } from '../support/data.ts';
import { startService } from '../support/service.ts';
import { begin, folderForTest } from './backups.ts';

interface Thread {
  /** Field 19 of `stat` in Linux. */
  nice: number;
  processors: string;
}

async function threadsOf(pid: number): Promise<Thread[]> {
  const folder = `/proc/${pid}/task`;
  const threads = (await readdir(folder)).map(async (thread): Promise<Thread> => {
    const [stat, status] = await Promise.all(['stat', 'status'].map((name) => readFile(`${folder}/${thread}/${name}`, 'utf8')));
    const behindName = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    return { nice: Number(behindName[16]), processors: /^Cpus_allowed_list:\s*(\S+)$/m.exec(status ?? '')?.[1] ?? '' };
  });
  return Promise.all(threads);
}

/** Whether the command that pins a process to one processor exists. Without it a backup only has a low priority. */
const canBeKept = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

const isLowPriority = ({ nice, processors }: Thread) => nice === 10 && (!canBeKept || /^\d+$/.test(processors));

async function becomesLowPriority(pid: number, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    // A thread or the process may end in between.
    const threads = await threadsOf(pid).catch(() => []);
    if (threads.length > 0 && threads.every(isLowPriority)) return true;
  }
  return false;
}

test('it has a low priority and keeps to one processor; checking one does not', {
  skip: process.platform !== 'linux' && '/proc is needed',
}, async () => {
  const data = await dataForTest('sqlite');
  const service = await startService({ ...data, engine: 'sqlite' });
  const seen = async (...args: string[]) => {
    const { child, ended } = begin(data, args);
    let isOver = false;
    ended.then(() => {
      isOver = true;
    });
    const behind = await becomesLowPriority(child.pid as number, () => isOver);
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
    return behind;
  };
  const to = await folderForTest();
  assert.equal(await seen('backup', '--to', to, '--system', service.appId), true);
  const [file = ''] = await readdir(join(to, service.appId));
  assert.equal(await seen('backup', 'verify', join(to, service.appId, file)), false);
});
