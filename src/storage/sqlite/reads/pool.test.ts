import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ReaderPool } from './pool.ts';

const TIME_LIMIT = 4_000;
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

/** Counts as long as it may. */
const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE rds_tick()) SELECT count(*) FROM n';
const read = (system: string, text = 'SELECT 5') =>
  pool.find(file(system), { list: null, count: { text, params: [] }, removals: 0 }, async () => null);
const flood = (system: string) => Array.from({ length: 4 }, () => read(system, endless));
const timesOut = (reads: readonly Promise<unknown>[]) => Promise.all(reads.map((one) => assert.rejects(one, { code: 124 })));

test('a system with nothing at work does not wait for the floods of others', async () => {
  const began = performance.now();
  const slow = timesOut([...flood('a'), ...flood('b')]);
  await wait(200);
  assert.equal(pool.size, 3);
  assert.equal((await read('c')).count, 5);
  assert.equal((await read('d')).count, 5);
  assert.ok(performance.now() - began < TIME_LIMIT, 'while the floods were at work');
  // Those of the floods that wait do not take the further threads.
  assert.equal(pool.size, 4);
  await slow;
});

test('there are no more threads than the bound on all of them, and those beyond the shared ones are ended when idle', async () => {
  const slow = timesOut('abcdef'.split('').map((system) => read(system, endless)));
  await wait(200);
  assert.equal(pool.size, 5);
  await slow;
  for (let n = 0; n < 200 && pool.size > 3; n++) await wait(20);
  assert.equal(pool.size, 3);
  assert.equal((await read('e')).count, 5);
});
