import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ReaderPool } from './reader-pool.ts';

const TIME_LIMIT = 60_000;
const directory = mkdtempSync(join(tmpdir(), 'rds-pool-'));
const file = (system: string) => join(directory, `${system}.sqlite`);
let pool: ReaderPool;
before(() => {
  for (const system of 'abcdef') {
    const db = new DatabaseSync(file(system));
    db.exec('CREATE TABLE rds_catalog (changes, removals); INSERT INTO rds_catalog VALUES (0, 0)');
    db.close();
  }
  pool = new ReaderPool(TIME_LIMIT, assert.fail, { shared: 3, all: 5, idle: 300 });
});
after(async () => {
  await pool.close();
  rmSync(directory, { recursive: true });
});

/** Counts until the time limit, or until nobody waits for it. */
const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE rds_tick()) SELECT count(*) FROM n';
const read = (system: string, text = 'SELECT 5', from = pool, until?: AbortSignal) =>
  from.find(file(system), { list: null, count: { text, params: [] }, removals: 0 }, async () => null, undefined, until);
const flood = (system: string, until: AbortSignal) => Array.from({ length: 4 }, () => read(system, endless, undefined, until));
const timesOut = (reads: readonly Promise<unknown>[]) => Promise.all(reads.map((one) => assert.rejects(one, { code: 124 })));

test('a system with nothing at work does not wait for the floods of others', async () => {
  const began = performance.now();
  const floods = new AbortController();
  const slow = timesOut([...flood('a', floods.signal), ...flood('b', floods.signal)]);
  await wait(200);
  assert.equal(pool.size, 3);
  assert.equal((await read('c')).count, 5);
  assert.equal((await read('d')).count, 5);
  assert.ok(performance.now() - began < TIME_LIMIT, 'while the floods were at work');
  // Waiting reads of the floods do not take the extra threads.
  assert.equal(pool.size, 4);
  floods.abort();
  await slow;
});

test('there are no more threads than the bound on all of them, and those beyond the shared ones are ended when idle', async () => {
  const floods = new AbortController();
  const slow = timesOut('abcdef'.split('').map((system) => read(system, endless, undefined, floods.signal)));
  await wait(200);
  assert.equal(pool.size, 5);
  floods.abort();
  await slow;
  for (let n = 0; n < 200 && pool.size > 3; n++) await wait(20);
  assert.equal(pool.size, 3);
  assert.equal((await read('e')).count, 5);
});

test('a read ends at the time limit, at work and in the queue', async () => {
  const hasty = new ReaderPool(500, assert.fail, { shared: 2, all: 3, idle: 300 });
  await timesOut([1, 2, 3].map(() => read('a', endless, hasty)));
  assert.equal((await read('a', undefined, hasty)).count, 5, 'the thread is free');
  await hasty.close();
});

test('a read that nobody waits for ends, at work and in the queue', async () => {
  const patient = new ReaderPool(600_000, assert.fail, { shared: 2, all: 3, idle: 300 });
  const [atWork, queued] = [new AbortController(), new AbortController()];
  const slow = read('a', endless, patient, atWork.signal);
  const waits = read('a', endless, patient, queued.signal);
  await wait(200);
  queued.abort();
  await assert.rejects(waits, { key: 'timeout' });
  const next = read('a', undefined, patient);
  atWork.abort();
  await assert.rejects(slow, { key: 'timeout' });
  assert.equal((await next).count, 5, 'the thread is free');
  assert.equal((await read('b', undefined, patient, AbortSignal.timeout(60_000))).count, 5);
  await assert.rejects(read('a', undefined, patient, atWork.signal), { key: 'timeout' });
  await patient.close();
});

if (process.platform === 'linux')
  test('a thread that cannot be started is a condition, which is over when one is', async () => {
    const told: string[] = [];
    const conditions = {
      met: (what: string) => told.push(`met: ${what}`),
      over: (_about: object, what?: string) => told.push(`over: ${what}`),
    };
    const starved = new ReaderPool(TIME_LIMIT, assert.fail, undefined, conditions);
    const ask = () => read('a', undefined, starved);
    const giveBack = await takeDescriptors();
    await assert.rejects(ask(), { key: 'unavailable' }).finally(giveBack);
    assert.deepEqual(told, ['met: a reader thread cannot be started']);
    assert.equal((await ask()).count, 5);
    assert.deepEqual(told.slice(1), ['over: a reader thread cannot be started']);
    await starved.close();
  });

if (process.platform === 'linux')
  test('it is over where threads that there are do what is left to do, and where nothing is', async () => {
    const told: string[] = [];
    const conditions = { met: () => told.push('met'), over: () => told.push('over') };
    const starved = new ReaderPool(TIME_LIMIT, assert.fail, undefined, conditions);
    assert.equal((await read('a', undefined, starved)).count, 5);
    told.length = 0;
    const long = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000000) SELECT count(*) FROM n';
    const busy = read('a', long, starved);
    const giveBack = await takeDescriptors();
    await assert.rejects(read('a', undefined, starved), { key: 'unavailable' }).finally(giveBack);
    assert.equal((await busy).count, 5_000_000);
    assert.equal(told[0], 'met');
    for (let n = 0; n < 200 && !told.includes('over'); n++) await wait(20);
    assert.equal(told.at(-1), 'over');
    await starved.close();
  });

/** Takes all descriptors from this process. @returns a function that restores the limit */
async function takeDescriptors(): Promise<() => Promise<void>> {
  const limit = (most: string) => `prlimit --pid=${process.pid} --nofile=${most}:`;
  // Started beforehand, since that would be impossible later.
  const shell = spawn('sh', ['-c', `read most; ${limit('$most')} && echo; read _; ${limit('4096')}`]);
  await once(shell, 'spawn');
  shell.stdin.write('3\n');
  await once(shell.stdout, 'data');
  return async () => {
    shell.stdin.end('\n');
    assert.deepEqual(await once(shell, 'exit'), [0, null]);
  };
}
