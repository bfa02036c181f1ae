import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SqliteEngine } from './engine.ts';

const directory = await mkdtemp(join(tmpdir(), 'rds-locks-'));
const engine = new SqliteEngine(directory, { timeLimit: 1_000, report: assert.fail, addressesOf: assert.fail });
after(async () => {
  await engine.close();
  await rm(directory, { recursive: true });
});

/** Locks a place in a separate process. */
async function lockElsewhere(place: string) {
  const module = new URL('./cluster/place-lock.ts', import.meta.url).href;
  const script = `
    const { tryLockPlace } = await import(${JSON.stringify(module)});
    globalThis.held = tryLockPlace(${JSON.stringify(join(directory, `.lock-${place}`))});
    process.stdout.write(String(globalThis.held !== null));
    setInterval(() => {}, 1_000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  after(() => child.kill());
  assert.equal(String((await once(child.stdout, 'data'))[0]), 'true');
  return {
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('the lock of a process that was killed goes with the next one that is taken', async () => {
  const other = await lockElsewhere('Killed');
  const own = await engine.lockPlace('Own');
  assert.deepEqual((await readdir(directory)).sort(), ['.lock-Killed', '.lock-Own'], 'both are held');
  assert.equal(await engine.lockPlace('Killed'), null);
  await other.kill();
  assert.deepEqual((await readdir(directory)).sort(), ['.lock-Killed', '.lock-Own'], 'a crash leaves it');
  const third = await engine.lockPlace('Third');
  assert.deepEqual((await readdir(directory)).sort(), ['.lock-Own', '.lock-Third']);
  assert.equal(await engine.lockPlace('Own'), null, 'one that is held stays so');
  await own?.release();
  await third?.release();
  assert.deepEqual(await readdir(directory), []);
});
