import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { StallAllowance } from '../../../kernel/stall-allowance.ts';
import { readPages } from './cursor.ts';
import type { Lease } from './exclusive-pool.ts';
import { sql } from './testing/open.ts';

/** An endless read on a connection that answers immediately, and a log of what happens to the connection. */
function endless(allowance: StallAllowance, isBlocking = async () => false) {
  const log: string[] = [];
  const link = {
    isIdle: true,
    lost: false,
    pause: () => {},
    resume: () => {},
    query: async () => ({ rows: [] }),
    command: async (text: string, options?: { each: (row: unknown[], bytes: number) => void }) => {
      if (!text.startsWith('FETCH')) log.push(text.slice(0, 8));
      for (let n = 0; n < 5; n++) options?.each([n], 10);
    },
  };
  const lease = { link, release: () => log.push('released') } as unknown as Lease;
  const settings = {
    pool: { hasWaiters: false },
    timeLimit: 10_000,
    limits: {},
    allowance,
    cancel: async () => {},
    isBlocking,
  };
  return { pages: readPages(lease, sql('SELECT 1'), 5, settings as unknown as Parameters<typeof readPages>[3]), log };
}

test('a caller who takes a page now and then is given up once their pauses are over', async () => {
  const { pages, log } = endless(new StallAllowance(60_000, 300));
  const trickle = async () => {
    for await (const _ of pages) await wait(30);
  };
  await assert.rejects(trickle(), { key: 'timeout' });
  assert.deepEqual(log, ['BEGIN RE', 'ROLLBACK', 'released']);
});

test('a caller who reads on is not', async () => {
  const { pages, log } = endless(new StallAllowance(60_000, 5_000));
  let taken = 0;
  for await (const _ of pages) {
    await wait(1);
    if (++taken === 100) break;
  }
  assert.deepEqual(log, ['BEGIN RE', 'ROLLBACK', 'released']);
});

test('one who takes nothing for five seconds is given up soon after others wait, though not when they were looked for first', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let checks = 0;
  const { pages, log } = endless(new StallAllowance(60_000), async () => ++checks === 4);
  await pages.next();
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await new Promise(setImmediate);
  };
  await pass(4_999);
  assert.equal(checks, 0);
  await pass(1);
  assert.equal(checks, 1);
  // Others wait 300 ms at a time for a lock.
  for (let n = 0; n < 3; n++) await pass(150);
  assert.equal(checks, 4);
  assert.deepEqual(log, ['BEGIN RE', 'ROLLBACK', 'released']);
  await assert.rejects(pages.next(), { key: 'timeout' });
});
