import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { FolderDestination } from './folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'rds-folder-'));
after(() => rm(folder, { recursive: true }));

const namesOf = (appId: string) => readdir(join(folder, appId)).catch(() => []);
const partialsIn = async (appId: string) => (await namesOf(appId)).filter((name) => name.endsWith('.partial'));

test('what a killed process was writing goes with the next backup', { skip: process.platform !== 'linux' }, async () => {
  const module = new URL('./folder.ts', import.meta.url).href;
  const script = `
    const { FolderDestination } = await import(${JSON.stringify(module)});
    const { Readable } = await import('node:stream');
    async function* endless() {
      for (;;) yield await new Promise((resolve) => setTimeout(resolve, 20, Buffer.from('half')));
    }
    await new FolderDestination(${JSON.stringify(folder)}).write('App', '20260101T000000Z.rdsb', Readable.from(endless()), 1);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', 'inherit'] });
  after(() => child.kill());
  while ((await partialsIn('App')).length === 0) await wait(10);
  const destination = new FolderDestination(folder);
  const write = (name: string) => destination.write('App', name, Readable.from([Buffer.from('all')]));
  await write('20260101T000001Z.rdsb');
  assert.equal((await partialsIn('App')).length, 1, 'one that is being written stays');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal((await partialsIn('App')).length, 1, 'a kill leaves it');
  await write('20260101T000002Z.rdsb');
  assert.deepEqual((await namesOf('App')).sort(), ['20260101T000001Z.rdsb', '20260101T000002Z.rdsb']);
});
