/**
 * The power is cut while the embedded engine writes: of what was not flushed, the disk has got any part. Reference: operations.md#processes.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporary } from '../edge/process.ts';
import { compileCache, engines } from '../support/service.ts';
import { type Injector, injector } from './preload/control.ts';
import { cutPower, journalSettings } from './preload/power-cut.ts';

const writer = fileURLToPath(new URL('power-loss-writer.ts', import.meta.url));
/** Lives of a file, each with a power cut at its end. */
const LIVES = 5;
/** Rows that are acknowledged before the cut: several times as many as fit between two beginnings of the WAL. */
const MIN_ROWS = 120;

/** Returns a generator of numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Lets a process write to a file and kills it in the middle of a flush. @returns the rows that it was told to be durable */
async function writeAndDie(file: string, faults: Injector, journal: string, rowsAtLeast: number): Promise<number[]> {
  const env = { ...process.env, ...compileCache, ...faults.env, ...journalSettings(journal, dirname(file)) };
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', writer, file], {
    ...{ env, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  let output = '';
  child.stdout?.on('data', (text) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const rows = () => output.split('\n').slice(0, -1).map(Number);
  while (rows().length < rowsAtLeast && child.exitCode === null) await wait(2);
  const slow = faults.begin({ calls: ['sync'], path: file, delayMs: 60_000 });
  while (slow.met() === 0 && child.exitCode === null) await wait(2);
  child.kill('SIGKILL');
  await ended;
  slow.end();
  return rows();
}

test('a power cut loses no acknowledged row and leaves a sound file, whatever part of the rest the disk has got', async (t) => {
  if (!engines.includes('sqlite')) return;
  const faults = injector();
  if (!faults) return t.skip('no C compiler');
  let reverted = 0;
  for (let life = 1; life <= LIVES; life++) {
    const directory = await temporary();
    const file = join(directory, 'records.sqlite');
    const journal = join(await temporary(), 'journal');
    const random = randomOf(life);
    const acknowledged = await writeAndDie(file, faults, journal, MIN_ROWS * (1 + random()));
    assert.ok(acknowledged.length >= MIN_ROWS);
    const share = life / (LIVES + 1);
    reverted += cutPower(journal, directory, () => random() < share);
    const db = new DatabaseSync(file);
    const stored = new Set(
      db
        .prepare('SELECT n FROM t')
        .all()
        .map(({ n }) => n),
    );
    assert.deepEqual(
      acknowledged.filter((n) => !stored.has(n)),
      [],
      `life ${life}: acknowledged, and lost`,
    );
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok', `life ${life}`);
    db.close();
  }
  assert.ok(reverted > 0, 'something was not flushed');
});
